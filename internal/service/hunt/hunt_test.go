package hunt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A forest is a search through sessions. It reads the next one whenever the test sends to step.
type forest struct {
	step    chan struct{}
	open    []floodmark.TicketID // one in each session
	running atomic.Int32
	began   atomic.Int32
	passed  int
	err     error
}

func (f *forest) search(ctx context.Context, see func(journal.Session, []floodmark.TicketID) bool) (int, error) {
	f.began.Add(1)
	if f.running.Add(1) > 1 {
		return 0, errors.New("two look at once")
	}
	defer f.running.Add(-1)
	for _, id := range f.open {
		select {
		case <-f.step:
		case <-ctx.Done():
			return f.passed, ctx.Err()
		}
		if !see(journal.Session{ID: floodmark.SessionID("s-" + id)}, []floodmark.TicketID{id}) {
			break
		}
	}
	return f.passed, f.err
}

// However many requests look for tickets that do not exist, one search runs at a time, and two are
// enough for all of them.
func TestManyHuntAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hunts
		f := &forest{step: make(chan struct{}), open: []floodmark.TicketID{"t1", "t2"}, passed: 3}
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				s, passed, err := h.Find(t.Context(), "acme", floodmark.TicketID(fmt.Sprint("none", i)), f.search)
				if err != nil || s.ID != "" || passed != 3 {
					t.Errorf("%v, %d, %v", s, passed, err)
				}
			})
			synctest.Wait()
		}
		close(f.step)
		all.Wait()
		if n := f.began.Load(); n != 2 || len(h.of) != 0 {
			t.Errorf("%d searches, and %d tenants are left", n, len(h.of))
		}
	})
}

// A request is answered as soon as its ticket is found, even if another request does the search for
// a ticket that does not exist. The request that does the search stops at its own ticket.
func TestAHuntTellsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hunts
		f := &forest{step: make(chan struct{}), open: []floodmark.TicketID{"t1", "t2", "t3"}}
		var all sync.WaitGroup
		var told atomic.Int32
		look := func(id floodmark.TicketID, want floodmark.SessionID) {
			all.Go(func() {
				if s, _, err := h.Find(t.Context(), "acme", id, f.search); err != nil || s.ID != want {
					t.Errorf("%s: %v, %v", id, s, err)
				}
				told.Add(1)
			})
			synctest.Wait()
		}
		look("t1", "s-t1")
		look("none", "")
		look("t2", "s-t2")
		f.step <- struct{}{} // the first request has its answer, and the second search begins
		synctest.Wait()
		if n := told.Load(); n != 1 {
			t.Errorf("%d were told", n)
		}
		f.step <- struct{}{}
		f.step <- struct{}{} // t2
		synctest.Wait()
		if n := told.Load(); n != 2 {
			t.Errorf("%d were told when it was found", n)
		}
		close(f.step)
		all.Wait()
	})
}

// A cancelled request leaves the search to others, and leaves nothing behind.
func TestAHunterGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hunts
		f := &forest{step: make(chan struct{}), open: []floodmark.TicketID{"t1"}}
		gone, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		look := func(ctx context.Context, want error) {
			all.Go(func() {
				if s, _, err := h.Find(ctx, "acme", "t1", f.search); !errors.Is(err, want) || err == nil && s.ID != "s-t1" {
					t.Errorf("%v, %v", s, err)
				}
			})
			synctest.Wait()
		}
		look(gone, context.Canceled) // it leads
		look(gone, context.Canceled) // it waits
		look(t.Context(), nil)
		cancel()
		synctest.Wait()
		close(f.step)
		all.Wait()
		if len(h.of) != 0 {
			t.Error("something is left")
		}
		look(gone, context.Canceled)
		all.Wait()
	})
}

// A search without a waiting request does not begin.
func TestNobodyHunts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hunts
		f := &forest{step: make(chan struct{}), open: []floodmark.TicketID{"t1"}}
		gone, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, ctx := range []context.Context{t.Context(), gone, gone} {
			all.Go(func() { _, _, _ = h.Find(ctx, "acme", "none", f.search) })
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		close(f.step)
		all.Wait()
		if n := f.began.Load(); n != 1 || len(h.of) != 0 {
			t.Errorf("%d searches, and %d tenants are left", n, len(h.of))
		}
	})
}

// All requests that wait for a search get its error.
func TestAHuntThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h Hunts
		f := &forest{step: make(chan struct{}), open: []floodmark.TicketID{"t1"}, err: journal.ErrAway}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, _, err := h.Find(t.Context(), "acme", "none", f.search); !errors.Is(err, journal.ErrAway) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		close(f.step)
		all.Wait()
		if n := f.began.Load(); n != 2 {
			t.Errorf("%d searches", n)
		}
	})
}
