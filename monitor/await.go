package monitor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
)

// Await waits until a question is closed, and returns how: Allow if it was approved as a whole,
// Restrict if it was denied, Confirm if it expired or was voided, so that the call still needs an
// answer. With an error the verdict is Restrict. Answers at this node are known at once, those of
// another node within Limits.Poll.
//
// The verdict does not allow the call: the call itself must be handled again.
func (m *Monitor) Await(ctx context.Context, s journal.Session, t floodmark.TicketID) (floodmark.Verdict, error) {
	if err := m.take(m.waits); err != nil {
		return floodmark.Restrict, refuse(err)
	}
	defer m.give(m.waits)
	b := m.news.listen(s)
	defer m.news.leave(s)
	w := waiter{m: m, session: s, ticket: t}
	for {
		ring := m.news.ring(b) // before looking, so that no write in between is missed
		verdict, closed, err := w.look(ctx)
		if err != nil {
			return floodmark.Restrict, refuse(err)
		}
		if closed {
			return verdict, nil
		}
		hookframe.Still(ctx)
		timer := time.NewTimer(w.pause())
		select {
		case <-ring:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return floodmark.Restrict, refuse(ctx.Err())
		case <-m.life.Done():
			timer.Stop()
			return floodmark.Restrict, refuse(ErrClosed)
		}
		timer.Stop()
	}
}

// A waiter follows a session until its question is closed.
type waiter struct {
	m       *Monitor
	session journal.Session
	ticket  floodmark.TicketID
	mem     memory
	expires time.Time
}

// pause returns how long the waiter may sleep without missing an end.
func (w *waiter) pause() time.Duration {
	left := w.expires.Sub(w.m.cfg.Now())
	return max(min(w.m.cfg.Limits.Poll, left), time.Millisecond)
}

// look reads new entries and reports whether the question is closed, and how.
func (w *waiter) look(ctx context.Context) (floodmark.Verdict, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, w.m.cfg.Limits.Deadline)
	defer cancel()
	if w.mem.state == nil {
		mem, err := w.m.look(ctx, w.session)
		if err != nil {
			return 0, false, err
		}
		w.mem = mem
		if _, open := w.open(); !open {
			return w.search(ctx)
		}
	}
	for e, err := range w.m.cfg.Journal.Read(ctx, w.session, w.mem.link.Seq) {
		if err != nil {
			return 0, false, err
		}
		if err := w.mem.follow(w.session, e); err != nil {
			return 0, false, err
		}
		if verdict, ok := answers(e, w.ticket); ok {
			return verdict, true, nil
		}
	}
	approved, open := w.open()
	switch {
	case approved:
		return floodmark.Allow, true, nil
	case !open:
		return floodmark.Confirm, true, nil
	}
	return 0, false, nil
}

// open reports whether the question waits and has not expired, and whether it was approved.
func (w *waiter) open() (approved, open bool) {
	for _, o := range w.mem.state.Book.Tickets {
		if o.ID == w.ticket {
			w.expires = o.Expires
			return o.Approved, !o.Approved && w.m.cfg.Now().Before(o.Expires)
		}
	}
	return false, false
}

// search looks through all entries for how a closed question ended. The last answer counts, because
// a denial may follow an approval.
func (w *waiter) search(ctx context.Context) (floodmark.Verdict, bool, error) {
	asked, answered, verdict := false, false, floodmark.Confirm
	for e, err := range w.m.cfg.Journal.Read(ctx, w.session, 0) {
		if err != nil {
			return 0, false, err
		}
		if v, ok := answers(e, w.ticket); ok {
			verdict, answered = v, true
		}
		if !asked && e.Kind == "ticket-opened" {
			f, err := e.Fact()
			if err != nil {
				return 0, false, err
			}
			o, ok := f.(floodmark.TicketOpened)
			asked = ok && o.Ticket == w.ticket
		}
	}
	if !asked && !answered {
		return 0, false, fmt.Errorf("%w: %s in session %s", ErrNoTicket, w.ticket, w.session)
	}
	return verdict, true, nil
}

// answers returns how an entry closes a question, if it does.
func answers(e journal.Entry, t floodmark.TicketID) (floodmark.Verdict, bool) {
	if e.Kind != "ticket-answered" {
		return 0, false
	}
	f, err := e.Fact()
	if err != nil {
		return 0, false
	}
	a, ok := f.(floodmark.TicketAnswered)
	return a.Verdict, ok && a.Ticket == t
}

// news wakes waiters when this node writes to their session.
type news struct {
	mu    sync.Mutex // guards all below and the bells
	bells map[journal.Session]*bell
}

type bell struct {
	ring    chan struct{} // closed by the next entry
	waiting int
}

func newNews() *news { return &news{bells: map[journal.Session]*bell{}} }

func (n *news) listen(s journal.Session) *bell {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.bells[s]
	if b == nil {
		b = &bell{ring: make(chan struct{})}
		n.bells[s] = b
	}
	b.waiting++
	return b
}

func (n *news) ring(b *bell) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return b.ring
}

func (n *news) leave(s journal.Session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.bells[s]
	if b.waiting--; b.waiting == 0 {
		delete(n.bells, s)
	}
}

func (n *news) tell(s journal.Session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b := n.bells[s]; b != nil {
		close(b.ring)
		b.ring = make(chan struct{})
	}
}
