package postgresjournal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark/journal"
)

// How tenants are looked up apart.
const (
	// aparts is how many such statements one node runs at once in a database, and apartsOfOne how
	// many of one tenant, so that one tenant never takes all. With few connections it runs fewer,
	// because shared statements and reads of sessions need connections, too.
	aparts      = 3
	apartsOfOne = 2
	// A tenant is looked up apart for the time apartFor if its words take more than largeBytes, or
	// if a statement of its own takes longer than slow.
	largeBytes = 1 << 20
	slow       = time.Second
	apartFor   = 30 * time.Second
)

// An apart runs statements for single tenants, by turns: for those with large results, for those
// with slow statements, and once for those whose shared statement failed.
type apart struct {
	look    look
	timeout time.Duration
	most    int // statements at once
	workers sync.WaitGroup

	mu     sync.Mutex // guards what is below
	closed bool
	under  int // statements
	of     map[string]*alone
	turns  []string // the tenants with waiting requests, the next first
}

// alone is the state of one tenant.
type alone struct {
	waiting []*asking
	under   int       // statements
	until   time.Time // it shares no statement until then
}

func newApart(l look, timeout time.Duration, readers int) *apart {
	most := min(aparts, max(1, readers-lookers-1))
	return &apart{look: l, timeout: timeout, most: most, of: map[string]*alone{}}
}

// close refuses the waiting requests. The caller waits for the workers.
func (p *apart) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, tenant := range p.turns {
		for _, a := range p.of[tenant].waiting {
			a.end(journal.ErrClosed)
		}
		p.of[tenant].waiting = nil
	}
	p.turns = nil
}

// has reports whether a tenant is looked up apart now.
func (p *apart) has(tenant string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, ok := p.of[tenant]
	if ok && own.under == 0 && len(own.waiting) == 0 && time.Now().After(own.until) {
		delete(p.of, tenant)
		return false
	}
	return ok && time.Now().Before(own.until)
}

// mark has a tenant looked up apart for a while.
func (p *apart) mark(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own(tenant).until = time.Now().Add(apartFor)
}

// own returns the state of a tenant. The caller holds the lock.
func (p *apart) own(tenant string) *alone {
	if p.of[tenant] == nil {
		p.of[tenant] = &alone{}
	}
	return p.of[tenant]
}

// add queues a request for a statement of its tenant's own.
func (p *apart) add(a *asking) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		a.end(journal.ErrClosed)
		return
	}
	if a.until.IsZero() {
		a.until = time.Now().Add(p.timeout)
	}
	own := p.own(a.tenant)
	if own.waiting = append(own.waiting, a); len(own.waiting) == 1 {
		p.turns = append(p.turns, a.tenant)
	}
	p.begin()
}

// begin starts statements while there is room. The caller holds the lock.
func (p *apart) begin() {
	for p.under < p.most {
		at := slices.IndexFunc(p.turns, func(tenant string) bool { return p.of[tenant].under < apartsOfOne })
		if at < 0 {
			return
		}
		tenant := p.turns[at]
		p.turns = slices.Delete(p.turns, at, at+1)
		own := p.of[tenant]
		group := own.next()
		if len(own.waiting) > 0 {
			p.turns = append(p.turns, tenant)
		}
		own.under++
		p.under++
		p.workers.Go(func() { p.run(tenant, group) })
	}
}

// next takes the requests that fit one statement.
func (o *alone) next() []*asking {
	n, keys := 0, 0
	for n < len(o.waiting) {
		if keys += len(o.waiting[n].keys); n > 0 && keys > maxAsked {
			break
		}
		n++
	}
	group := slices.Clone(o.waiting[:n])
	o.waiting = slices.Delete(o.waiting, 0, n)
	return group
}

// run answers a group of one tenant, and records whether that was slow or large.
func (p *apart) run(tenant string, group []*asking) {
	began := time.Now()
	large := p.answer(group)
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.of[tenant]
	own.under--
	p.under--
	if large || time.Since(began) > slow {
		own.until = time.Now().Add(apartFor)
	}
	p.begin()
}

// answer answers a group of one tenant by one statement, or one by one if their common result
// exceeds a statement. It reports whether the result was large.
func (p *apart) answer(group []*asking) (large bool) {
	var last time.Time
	now := time.Now()
	group = slices.DeleteFunc(group, func(a *asking) bool {
		if a.gone.Load() || !now.Before(a.until) {
			a.end(fmt.Errorf("wait for a turn: %w", context.DeadlineExceeded))
			return true
		}
		if a.until.After(last) {
			last = a.until
		}
		return false
	})
	if len(group) == 0 {
		return false
	}
	took, err := p.look(last.Sub(now), group, false)
	of := took[group[0].tenant]
	if err == nil && of.over && len(group) > 1 {
		for _, a := range group {
			p.answer([]*asking{a})
		}
		return true
	}
	if err == nil && of.over {
		err = fmt.Errorf("%w: what sessions left behind under the names that a call has takes more than %d MB", journal.ErrTooLarge, maxApartBytes>>20)
	}
	for _, a := range group {
		a.end(err)
	}
	return of.over || of.bytes > largeBytes
}
