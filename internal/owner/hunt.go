package owner

import (
	"context"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// hunts look for the sessions of tickets. Looking through all sessions of a tenant is expensive,
// and every caller who may answer can name a ticket that does not exist. So one hunt of a tenant
// runs at a time, for all requests that came before it began; later requests share the next one.
// Made-up tickets delay no request for longer than two hunts. The zero hunts are ready.
type hunts struct {
	mu sync.Mutex // guards all below
	of map[string]*hunting
}

// hunting is the running hunt of a tenant, and the next one.
type hunting struct{ now, next *hunt }

// A hunt looks for several tickets in one pass. The request that takes its turn looks for all.
type hunt struct {
	turn    chan struct{}
	over    chan struct{}
	wanted  map[floodmark.TicketID]*prey // fixed when the hunt begins
	waiting int                          // requests that have not gone before it began

	// The result, once it is over: whether all sessions were searched, or the error, and how many
	// could not be read.
	whole  bool
	err    error
	passed int
}

// A prey is one ticket with the session it was found in.
type prey struct {
	found chan struct{}
	at    journal.Session
}

// A search goes through sessions, each with its open tickets, until see returns false. It returns
// how many it had to skip.
type search func(ctx context.Context, see func(s journal.Session, open []floodmark.TicketID) (more bool)) (passed int, err error)

// find returns the session that has an open ticket, or an empty one with how many sessions could
// not be read.
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
		} // otherwise the leading request was done, or cancelled
	}
	return s, 0, ctx.Err()
}

// join adds a ticket to the next hunt of a tenant.
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

// leave removes a request that no longer waits.
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

// tidy drops a tenant without hunts. The caller holds the lock.
func (h *hunts) tidy(tenant string, t *hunting) {
	if t.now == nil && t.next == nil {
		delete(h.of, tenant)
	}
}

// lead looks for all tickets of the hunt, until its own is found.
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

// end lets the next hunt begin.
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
