package monitor

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// A Pending is a question that waits for a person. It does not contain the code, which goes only to
// the owner's channel.
type Pending struct {
	Session journal.Session
	Ticket  floodmark.TicketID
	// Questions are the calls of the ticket that were asked here.
	Questions []approval.Question
	// Calls is the number of all calls of the ticket. An approval by ticket must name this number.
	Calls int
	// Seen is a digest of what the calls show; see [approval.Open.Seen].
	Seen    string
	Expires time.Time
}

// Pending returns the open questions of a tenant that were asked here, the first to expire first.
// It does not know the questions of other nodes, or of this node before a restart. [Monitor.View]
// shows all questions of a session, and [Monitor.Words] returns their text.
func (m *Monitor) Pending(tenant string) []Pending {
	return m.asked.of(tenant, m.cfg.Now())
}

// PendingOf returns the open questions of a session that were asked here.
func (m *Monitor) PendingOf(s journal.Session) []Pending {
	return m.asked.ofSession(s, m.cfg.Now())
}

// mayAsk refuses a question beyond the limit of its tenant.
func (m *Monitor) mayAsk(s journal.Session, t *approval.Ticket, at time.Time) error {
	if t == nil || m.cfg.Questions == nil {
		return nil
	}
	most := m.cfg.Questions(s.Tenant)
	if most > 0 && !m.asked.has(s, t.ID) && len(m.asked.of(s.Tenant, at)) >= most {
		return fmt.Errorf("%w: %d wait", ErrQuestions, most)
	}
	return nil
}

// questions are the questions that were asked here and are not known to be closed.
type questions struct {
	mu    sync.Mutex // guards all below
	open  map[journal.Session][]Pending
	count int
}

func newQuestions() *questions { return &questions{open: map[journal.Session][]Pending{}} }

// add records a question, or one more call of a known question. It reports whether the question is
// new.
func (q *questions) add(s journal.Session, t approval.Ticket, at time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.open[s]
	for i := range list {
		p := &list[i]
		if p.Ticket != t.ID {
			continue
		}
		same := func(o approval.Question) bool {
			return o.Action.Tool == t.Call.Action.Tool && o.Action.ArgsDigest == t.Call.Action.ArgsDigest
		}
		p.Questions = append(slices.DeleteFunc(p.Questions, same), t.Call) // callers of Pending have a copy
		p.Calls, p.Seen, p.Expires = t.Calls, t.Seen, t.Expires
		return false
	}
	if q.count >= maxPending {
		q.makeRoom(at)
	}
	q.open[s] = append(q.open[s], Pending{Session: s, Ticket: t.ID, Questions: []approval.Question{t.Call}, Calls: t.Calls, Seen: t.Seen, Expires: t.Expires})
	q.count++
	return true
}

// has reports whether a question was asked here.
func (q *questions) has(s journal.Session, t floodmark.TicketID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.open[s], func(p Pending) bool { return p.Ticket == t })
}

// any reports whether questions of a session are open here.
func (q *questions) any(s journal.Session) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.open[s]) > 0
}

// expire drops a question that has expired, and reports whether it was there.
func (q *questions) expire(s journal.Session, t floodmark.TicketID, at time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.count
	q.keep(s, func(p Pending) bool { return p.Ticket != t || at.Before(p.Expires) })
	return q.count < before
}

// makeRoom drops the expired questions. If that is not enough, it drops the eighth of the questions
// that expires first, so that it need not scan all questions again for the next one: that would
// block other sessions on a busy node. The journal still has the dropped questions.
func (q *questions) makeRoom(at time.Time) {
	q.forgetUntil(at)
	if q.count < maxPending {
		return
	}
	ends := make([]time.Time, 0, q.count)
	for _, list := range q.open {
		for _, p := range list {
			ends = append(ends, p.Expires)
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	q.forgetUntil(ends[len(ends)/8])
}

// forgetUntil drops the questions that expire at a time or before.
func (q *questions) forgetUntil(t time.Time) {
	for s := range q.open {
		q.keep(s, func(p Pending) bool { return t.Before(p.Expires) })
	}
}

// settle drops the questions of a session that its book has closed, and returns them.
func (q *questions) settle(s journal.Session, book *approval.Book, at time.Time) (gone []Pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open[s]) == 0 {
		return nil
	}
	q.keep(s, func(p Pending) bool {
		open, ok := book.ByID(p.Ticket, at)
		if ok && !open.Approved {
			return true
		}
		gone = append(gone, p)
		return false
	})
	return gone
}

func (q *questions) keep(s journal.Session, wanted func(Pending) bool) {
	list := q.open[s]
	left := slices.DeleteFunc(list, func(p Pending) bool { return !wanted(p) })
	q.count -= len(list) - len(left)
	if len(left) == 0 {
		delete(q.open, s)
		return
	}
	q.open[s] = left
}

func (q *questions) of(tenant string, at time.Time) (found []Pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for s, list := range q.open {
		if s.Tenant == tenant {
			found = appendOpen(found, list, at)
		}
	}
	slices.SortFunc(found, func(a, b Pending) int { return a.Expires.Compare(b.Expires) })
	return found
}

func (q *questions) ofSession(s journal.Session, at time.Time) []Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	return appendOpen(nil, q.open[s], at)
}

// appendOpen appends copies of the questions that have not expired.
func appendOpen(to, list []Pending, at time.Time) []Pending {
	for _, p := range list {
		if at.Before(p.Expires) {
			p.Questions = slices.Clone(p.Questions)
			to = append(to, p)
		}
	}
	return to
}
