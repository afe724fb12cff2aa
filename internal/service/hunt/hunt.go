// Package hunt finds the sessions in which questions wait, without reading every session each time.
package hunt

import (
	"context"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A Hunts looks for the sessions of tickets. Searching all sessions of a tenant is expensive, and
// every caller who may answer can name a ticket that does not exist. So only one search (a hunt) of
// a tenant runs at a time, for all requests that came before it began. Later requests share the
// next hunt. So tickets that do not exist delay a request by at most two hunts. The zero Hunts is
// ready for use.
type Hunts struct {
	mu sync.Mutex // guards all below
	of map[string]*hunting
}

// A hunting holds the running hunt of a tenant, and the next one.
type hunting struct{ now, next *hunt }

// A hunt looks for several tickets in one pass. The request that receives from turn does the search
// for all.
type hunt struct {
	turn    chan struct{}
	over    chan struct{}
	wanted  map[floodmark.TicketID]*prey // no more are added once the hunt has begun
	waiting int                          // requests that wait for the hunt to begin

	// The result, valid once over is closed. whole is set if all sessions were searched. passed is
	// how many sessions could not be read.
	whole  bool
	err    error
	passed int
}

// A prey is a ticket that is looked for. at is its session, valid once found is closed.
type prey struct {
	found chan struct{}
	at    journal.Session
}

// A Search calls see with each session and its open tickets, until see returns false. It returns
// how many sessions it could not read.
type Search func(ctx context.Context, see func(s journal.Session, open []floodmark.TicketID) (more bool)) (passed int, err error)

// Find returns the session that has an open ticket. If there is none, it returns an empty session,
// and how many sessions could not be read.
func (h *Hunts) Find(ctx context.Context, tenant string, id floodmark.TicketID, look Search) (s journal.Session, passed int, err error) {
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
		} // otherwise the request that searched has stopped early, so join the next hunt
	}
	return s, 0, ctx.Err()
}

// join adds a ticket to the next hunt of a tenant.
func (h *Hunts) join(tenant string, id floodmark.TicketID) (*hunt, *prey) {
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
func (h *Hunts) leave(tenant string, r *hunt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.of[tenant]
	if t == nil || t.next != r {
		return // the hunt has begun
	}
	if r.waiting--; r.waiting == 0 {
		t.next = nil
		h.tidy(tenant, t)
	}
}

// tidy removes a tenant without hunts. Its caller holds the lock.
func (h *Hunts) tidy(tenant string, t *hunting) {
	if t.now == nil && t.next == nil {
		delete(h.of, tenant)
	}
}

// lead does the search for all tickets of a hunt, until the ticket of its own request is found.
func (h *Hunts) lead(ctx context.Context, tenant string, r *hunt, own *prey, look Search) {
	h.mu.Lock()
	h.of[tenant].now, h.of[tenant].next = r, nil
	h.mu.Unlock()
	defer h.end(tenant, r)
	got := false
	passed, err := look(ctx, func(s journal.Session, open []floodmark.TicketID) bool {
		for _, id := range open {
			if p := r.wanted[id]; p != nil {
				delete(r.wanted, id) // only the newest session with the ticket is used
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

// end ends a hunt, and lets the next one begin.
func (h *Hunts) end(tenant string, r *hunt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.of[tenant]
	if t.now = nil; t.next != nil {
		t.next.turn <- struct{}{}
	}
	h.tidy(tenant, t)
	close(r.over)
}
