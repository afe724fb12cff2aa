package postgresjournal

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// Nearly every decision looks up what sessions left behind, in all databases. So concurrent lookups
// share a statement, as concurrent writes share a commit. A statement begins after all its requests
// were queued: a lookup that follows an acknowledged append finds it.
//
// Tenants share a statement as long as their results are small. A tenant with a large result or a
// slow statement is looked up [apart], so that no other tenant waits or is refused because of it.
const (
	// lookers is how many shared statements of one node ask a database at once, the
	// second only if the first takes longer than patience: more make smaller groups,
	// and each statement costs the database more than what it asks for.
	lookers  = 2
	patience = 5 * time.Millisecond
	// maxAsked is how many keys one statement asks for, maxShared how many of them
	// may be one asker's if others share it.
	maxAsked  = 1024
	maxShared = 128
)

// An asking is a lookup that waits for words. Keys are at most maxAsked.
type asking struct {
	tenant string
	keys   []floodmark.Digest
	until  time.Time     // when it is refused; zero before its first statement
	gone   atomic.Bool   // its caller has given up
	done   chan struct{} // closed when found and err are set
	found  []journal.Artifact
	err    error
}

// end answers it.
func (a *asking) end(err error) {
	if a.err = err; err != nil {
		a.found = nil
	}
	close(a.done)
}

// A look asks for the words of a group by one statement, within some time, and sets
// what each has found. It returns what the tenants' words take.
type look func(within time.Duration, group []*asking, shared bool) (map[string]portion, error)

// A portion is what one tenant's words take.
type portion struct {
	bytes int
	over  bool // there are more than the statement may bring: what was found is not all
}

// lookups gathers those who ask while others are being answered. Who comes alone
// is answered alone, and at once.
type lookups struct {
	asked   chan *asking
	look    look
	timeout time.Duration
	apart   *apart
	workers sync.WaitGroup
	closing chan struct{}
}

// newLookups makes statements within some time, on so many connections that others
// need, too.
func newLookups(l look, timeout time.Duration, readers int) *lookups {
	all := &lookups{asked: make(chan *asking), look: l, timeout: timeout, apart: newApart(l, timeout, readers), closing: make(chan struct{})}
	all.workers.Go(all.work)
	return all
}

func (l *lookups) close() {
	close(l.closing)
	l.apart.close()
	l.workers.Wait()
	l.apart.workers.Wait()
}

// find waits for a turn, then for the answer.
func (l *lookups) find(ctx context.Context, tenant string, keys []floodmark.Digest) ([]journal.Artifact, error) {
	a := &asking{tenant: tenant, keys: keys, done: make(chan struct{})}
	if len(keys) > maxShared || l.apart.has(tenant) {
		l.apart.add(a)
	} else {
		select {
		case l.asked <- a:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closing:
			return nil, journal.ErrClosed
		}
	}
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		a.gone.Store(true)
		return nil, ctx.Err()
	}
}

// work collects new lookups while earlier ones are answered. A second statement starts beside a
// slow one, so that no lookup waits for a connection that hangs.
func (l *lookups) work() {
	under := make(chan struct{}, lookers) // a place for each statement under way
	var held *asking                      // did not fit the last group
	var last chan struct{}                // closed when the last statement has ended
	for {
		if held == nil {
			select {
			case held = <-l.asked:
			case <-l.closing:
				return
			}
		}
		await(last, patience)
		under <- struct{}{}
		var group []*asking
		group, held = l.gather(held)
		done := make(chan struct{})
		last = done
		l.workers.Go(func() {
			l.share(group)
			<-under
			close(done)
		})
	}
}

// gather makes a group of the first one and of those who ask now, and returns the
// one that did not fit.
func (l *lookups) gather(first *asking) (group []*asking, held *asking) {
	group, keys := []*asking{first}, len(first.keys)
	for {
		select {
		case a := <-l.asked:
			if keys += len(a.keys); keys > maxAsked {
				return group, a
			}
			group = append(group, a)
		default:
			return group, nil
		}
	}
}

// share answers a group by one statement. Where several tenants share it, it gets
// half of the time: if it is slow or refused because of one of them, there is time
// to ask for each apart.
func (l *lookups) share(group []*asking) {
	within, several := l.timeout, false
	until := time.Now().Add(l.timeout)
	for _, a := range group {
		a.until = until
		several = several || a.tenant != group[0].tenant
	}
	if several {
		within /= 2
	}
	took, err := l.look(within, group, true)
	for tenant, t := range took {
		if err == nil && (t.over || several && t.bytes > largeBytes) {
			l.apart.mark(tenant)
		}
	}
	for _, a := range group {
		if err == nil && took[a.tenant].over || err != nil && several {
			l.apart.add(a)
		} else {
			a.end(err)
		}
	}
}

// await waits until something is closed, but not for long. Nothing is nil.
func await(done <-chan struct{}, long time.Duration) {
	select {
	case <-done:
		return
	default:
	}
	if done == nil {
		return
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
