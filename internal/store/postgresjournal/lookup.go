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
// were queued, so a lookup that follows an acknowledged append finds what was appended.
//
// Tenants share a statement as long as their results are small. A tenant with a large result or a
// slow statement is looked up [apart], so that no other tenant waits or is refused because of it.
const (
	// lookers is how many shared statements one node runs at once in a database. The second begins
	// only if the first takes longer than patience. More would make smaller groups, and each
	// statement has a fixed cost.
	lookers  = 2
	patience = 5 * time.Millisecond
	// maxAsked bounds the keys of one statement, maxShared those of one lookup in a shared
	// statement.
	maxAsked  = 1024
	maxShared = 128
)

// An asking is a lookup that waits for words. Keys are at most maxAsked.
type asking struct {
	tenant string
	keys   []floodmark.Digest
	until  time.Time     // its deadline; zero before its first statement
	gone   atomic.Bool   // its caller has given up
	done   chan struct{} // closed when found and err are set
	found  []journal.Artifact
	err    error
}

// end returns the result to its caller.
func (a *asking) end(err error) {
	if a.err = err; err != nil {
		a.found = nil
	}
	close(a.done)
}

// A look looks up the words of a group by one statement, within some time, and sets the results. It
// returns the size of each tenant's words.
type look func(within time.Duration, group []*asking, shared bool) (map[string]portion, error)

// A portion is the size of one tenant's words.
type portion struct {
	bytes int
	over  bool // the result is incomplete: it exceeds the statement's limit
}

// lookups collects lookups while others are being answered. A single one is answered at once.
type lookups struct {
	asked   chan *asking
	look    look
	timeout time.Duration
	apart   *apart
	workers sync.WaitGroup
	closing chan struct{}
}

// newLookups returns lookups by statements with a timeout. They leave some of the readers to others.
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

// find waits for its turn, then for the result.
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
	under := make(chan struct{}, lookers) // one slot for each statement under way
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

// gather makes a group of the first lookup and of those waiting now, and returns the one that did
// not fit.
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

// share answers a group by one statement. A statement of several tenants gets half of the time: if
// one of them makes it slow or fail, there is time to look up each apart.
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

// await waits for a channel, with a timeout.
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
