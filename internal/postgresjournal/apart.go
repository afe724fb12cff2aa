package postgresjournal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark/journal"
)

// How tenants are asked for apart.
const (
	// aparts is how many such statements of one node ask a database at once, and
	// apartsOfOne how many of one tenant: there is one that a single tenant does not
	// hold. With fewer connections there are fewer: shared statements need some, and
	// so do those who read sessions.
	aparts      = 3
	apartsOfOne = 2
	// largeBytes is what a tenant's words may take of a shared statement, and slow how
	// long its own statement may take. After more, it is asked for apart for a while.
	largeBytes = 1 << 20
	slow       = time.Second
	apartFor   = 30 * time.Second
)

// An apart answers tenants each by statements of its own, by turns: those that find
// much, those whose statements are slow, and once those who shared a statement that
// failed.
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

// alone is what is asked of one tenant.
type alone struct {
	waiting []*asking
	under   int       // statements
	until   time.Time // until when it shares none
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

// has reports whether a tenant shares no statement now.
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

// mark lets a tenant share no statement for a while.
func (p *apart) mark(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own(tenant).until = time.Now().Add(apartFor)
}

// own is what is asked of a tenant. The caller holds the lock.
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

// begin begins statements while there are places for them. The caller holds the
// lock.
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

// next takes those who fit one statement.
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

// run answers a group of one tenant, and remembers whether that was slow or much.
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

// answer answers a group of one tenant by one statement, or each by one if together
// they find more than a statement may bring. It reports whether it was much.
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
