package owner

import (
	"context"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// hunts look for the sessions of tickets. To look through all sessions of a tenant is
// work, and anybody who may answer can name a ticket that nobody asked: so one hunt of
// a tenant runs at a time, for all who came before it began, and whoever comes later
// waits for the next one with all the others. Made-up tickets keep nobody waiting for
// longer than two hunts. The zero hunts are ready.
type hunts struct {
	mu sync.Mutex // guards all below
	of map[string]*hunting
}

// hunting is the hunt of a tenant that runs, and the one that is to begin.
type hunting struct{ now, next *hunt }

// A hunt looks for some tickets in one go. Whoever takes its turn looks for all.
type hunt struct {
	turn    chan struct{}
	over    chan struct{}
	wanted  map[floodmark.TicketID]*prey // as it is when the hunt begins
	waiting int                          // those who did not go before it began

	// What came out, once it is over: whether all was looked at, or why not, and how many
	// sessions could not be read.
	whole  bool
	err    error
	passed int
}

// A prey is one ticket with the session it was found in.
type prey struct {
	found chan struct{}
	at    journal.Session
}

// A search looks through sessions, each with its open tickets, until see has seen
// enough. It returns how many it had to pass over.
type search func(ctx context.Context, see func(s journal.Session, open []floodmark.TicketID) (more bool)) (passed int, err error)

// find returns the session that has an open ticket, or an empty one with how many
// sessions could not be read.
func (h *hunts) find(ctx context.Context, tenant string, id floodmark.TicketID, look search) (s journal.Session, passed int, err error) {
	for ctx.Err() == nil {
		r, p := h.join(tenant, id)
		select {
		case <-ctx.Done():
			h.leave(tenant, r)
			return s, 0, ctx.Err()
		case <-p.found:
			return p.at, 0, nil
		case <-r.turn:
			h.lead(ctx, tenant, r, p, look)
		case <-r.over:
		}
		select {
		case <-p.found:
			return p.at, 0, nil
		default:
		}
		if r.whole || r.err != nil {
			return s, r.passed, r.err
		} // else whoever looked had enough, or went away
	}
	return s, 0, ctx.Err()
}

// join asks the next hunt of a tenant to look for a ticket, too.
func (h *hunts) join(tenant string, id floodmark.TicketID) (*hunt, *prey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[string]*hunting{}
	}
	t := h.of[tenant]
	if t == nil {
		t = &hunting{}
		h.of[tenant] = t
	}
	if t.next == nil {
		t.next = &hunt{turn: make(chan struct{}, 1), over: make(chan struct{}), wanted: map[floodmark.TicketID]*prey{}}
		if t.now == nil {
			t.next.turn <- struct{}{}
		}
	}
	t.next.waiting++
	if t.next.wanted[id] == nil {
		t.next.wanted[id] = &prey{found: make(chan struct{})}
	}
	return t.next, t.next.wanted[id]
}

// leave takes one away who does not wait any more.
func (h *hunts) leave(tenant string, r *hunt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.of[tenant]
	if t == nil || t.next != r {
		return // it has begun
	}
	if r.waiting--; r.waiting == 0 {
		t.next = nil
		h.tidy(tenant, t)
	}
}

// tidy forgets a tenant nobody looks for anything of. The caller holds the lock.
func (h *hunts) tidy(tenant string, t *hunting) {
	if t.now == nil && t.next == nil {
		delete(h.of, tenant)
	}
}

// lead looks for all that is wanted, until its own is found.
func (h *hunts) lead(ctx context.Context, tenant string, r *hunt, own *prey, look search) {
	h.mu.Lock()
	h.of[tenant].now, h.of[tenant].next = r, nil
	h.mu.Unlock()
	defer h.end(tenant, r)
	got := false
	passed, err := look(ctx, func(s journal.Session, open []floodmark.TicketID) bool {
		for _, id := range open {
			if p := r.wanted[id]; p != nil {
				delete(r.wanted, id) // the newest session counts
				p.at = s
				close(p.found)
				got = got || p == own
			}
		}
		return !got
	})
	r.passed, r.whole = passed, err == nil && !got
	if ctx.Err() == nil {
		r.err = err
	}
}

// end lets the next one begin.
func (h *hunts) end(tenant string, r *hunt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.of[tenant]
	if t.now = nil; t.next != nil {
		t.next.turn <- struct{}{}
	}
	h.tidy(tenant, t)
	close(r.over)
}
