package postgresjournal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/floodmark/floodmark/journal"
)

// The limits of one group, which is one commit. They keep a group's time short compared with its
// flush.
const (
	maxGroup        = 512
	maxGroupEntries = 2048
	maxGroupBytes   = 4 << 20
)

// A request is a batch under way. Its state says who may answer it: the waiting caller may take it
// back until a writer takes it.
type request struct {
	batch   journal.Batch
	entries int
	bytes   int
	state   atomic.Int32
	done    chan struct{} // closed when err is set
	err     error
}

// The states of a request.
const (
	waiting int32 = iota
	taken
	takenBack
)

func newRequest(b journal.Batch) *request {
	r := &request{batch: b, done: make(chan struct{})}
	for _, rec := range b.Records {
		r.entries += len(rec.Entries)
		r.bytes += len(rec.Snapshot)
		for _, e := range rec.Entries {
			r.bytes += len(e.Body)
		}
	}
	for _, c := range b.Contents {
		r.bytes += len(c.Postings)
	}
	return r
}

// A queue collects batches while writers are busy, so that many share one commit. It uses no timer:
// a lone batch is written at once.
type queue struct {
	requests chan *request
	settle   func([]*request) // answers each of them
	writers  sync.WaitGroup
	left     leftAlone

	mu      sync.RWMutex // guards closed; senders hold it for reading
	closed  bool
	closing chan struct{} // closed just before closed is set
}

func newQueue(size, writers int, settle func([]*request)) *queue {
	q := &queue{requests: make(chan *request, size), settle: settle, closing: make(chan struct{})}
	for range writers {
		q.writers.Go(q.write)
	}
	return q
}

// append waits for room, then for the result.
func (q *queue) append(ctx context.Context, b journal.Batch) error {
	r := newRequest(b)
	if err := q.send(ctx, r); err != nil {
		return err
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if r.state.CompareAndSwap(waiting, takenBack) {
		return ctx.Err()
	}
	if q.left.add(r) {
		return fmt.Errorf("%w: %w", journal.ErrInDoubt, ctx.Err())
	}
	return r.err
}

// answer sets the result of r and wakes its caller.
func (q *queue) answer(r *request, err error) {
	r.err = err
	close(r.done)
	q.left.remove(r)
}

func (q *queue) send(ctx context.Context, r *request) error {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		return journal.ErrClosed
	}
	select {
	case q.requests <- r:
		return nil
	default:
	}
	select {
	case q.requests <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-q.closing:
		return journal.ErrClosed
	}
}

// close refuses new requests and waits until all others are answered.
func (q *queue) close() {
	close(q.closing)
	q.mu.Lock()
	q.closed = true
	close(q.requests)
	q.mu.Unlock()
	q.writers.Wait()
}

func (q *queue) write() {
	var held *request // did not fit the last group
	for {
		if held == nil {
			r, ok := <-q.requests
			if !ok {
				return
			}
			held = r
		}
		var g group
		held = q.gather(&g, held)
		if len(g.requests) > 0 {
			q.settle(g.requests)
		}
	}
}

// gather fills a group with waiting requests, and returns the one that did not fit.
func (q *queue) gather(g *group, first *request) *request {
	for r := first; ; {
		if !g.fits(r) {
			return r
		}
		g.add(r)
		var ok bool
		select {
		case r, ok = <-q.requests:
			if !ok {
				return nil
			}
		default:
			return nil
		}
	}
}

// A group is what one commit writes. Each session is in it once: of two batches for a session, one
// must see the other's result. A batch of several records is alone in its group, because it is
// written atomically.
type group struct {
	requests []*request
	entries  int
	bytes    int
	sessions map[journal.Session]bool
	alone    bool
}

func (g *group) fits(r *request) bool {
	switch {
	case len(g.requests) == 0:
		return true
	case g.alone, len(r.batch.Records) > 1, len(g.requests) == maxGroup:
		return false
	case g.entries+r.entries > maxGroupEntries, g.bytes+r.bytes > maxGroupBytes:
		return false
	}
	return !g.sessions[r.batch.Records[0].Session]
}

// add takes r into g, unless its caller took it back.
func (g *group) add(r *request) {
	if !r.state.CompareAndSwap(waiting, taken) {
		return
	}
	if g.sessions == nil {
		g.sessions = map[journal.Session]bool{}
	}
	g.requests = append(g.requests, r)
	g.entries += r.entries
	g.bytes += r.bytes
	g.sessions[r.batch.Records[0].Session] = true
	g.alone = len(r.batch.Records) > 1
}

// leftAlone are requests being written whose callers have given up. A read of their session waits
// for them: reading is how a caller in doubt learns the outcome.
type leftAlone struct {
	mu       sync.Mutex // guards sessions
	sessions map[journal.Session][]*request
}

// add records r, and reports whether it is still unanswered.
func (l *leftAlone) add(r *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-r.done:
		return false
	default:
	}
	if l.sessions == nil {
		l.sessions = map[journal.Session][]*request{}
	}
	for _, rec := range r.batch.Records {
		l.sessions[rec.Session] = append(l.sessions[rec.Session], r)
	}
	return true
}

// remove forgets an answered r.
func (l *leftAlone) remove(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sessions) == 0 {
		return
	}
	for _, rec := range r.batch.Records {
		rest := slices.DeleteFunc(l.sessions[rec.Session], func(other *request) bool { return other == r })
		if l.sessions[rec.Session] = rest; len(rest) == 0 {
			delete(l.sessions, rec.Session)
		}
	}
}

// wait returns when all requests for session s that existed at the call are answered.
func (l *leftAlone) wait(ctx context.Context, s journal.Session) error {
	l.mu.Lock()
	all := slices.Clone(l.sessions[s])
	l.mu.Unlock()
	for _, r := range all {
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
