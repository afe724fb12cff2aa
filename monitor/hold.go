package monitor

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// held are the questions that wait to be sent, each with its calls in order: behind one being sent,
// or for the end of quiet hours. They are in memory only: after a restart the monitor finds them in
// the journal, with the time they wait for.
type held struct {
	mu   sync.Mutex // guards wait
	wait map[heldKey][]approval.Ticket
}

type heldKey struct {
	session journal.Session
	ticket  floodmark.TicketID
}

func newHeld() *held { return &held{wait: map[heldKey][]approval.Ticket{}} }

// add queues a question behind earlier ones of the same ticket. It reports whether the queue was
// empty: then the caller must start telling them.
func (h *held) add(k heldKey, t approval.Ticket) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, behind := h.wait[k]
	h.wait[k] = append(list, t)
	return !behind
}

// next removes and returns the tickets to send now; empty means the queue is done.
func (h *held) next(k heldKey) []approval.Ticket {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.wait[k]
	if len(list) == 0 {
		delete(h.wait, k)
		return nil
	}
	h.wait[k] = h.wait[k][len(list):]
	return list
}

// release sends a question to people, in the order of its calls: only the last code answers it. A
// question answered in quiet hours is not sent.
func (m *Monitor) release(k heldKey, to []approval.Approver) {
	for list := m.held.next(k); list != nil; list = m.held.next(k) {
		for _, t := range list {
			if !m.quiet(k, t.Held) {
				return
			}
			if t.Held.IsZero() || m.asked.has(k.session, k.ticket) {
				m.tell(k.session, t, to)
			}
		}
	}
}

// quiet waits until quiet hours are over by the clock, or the question is closed. It returns false
// if the monitor stops before.
func (m *Monitor) quiet(k heldKey, until time.Time) bool {
	for m.cfg.Now().Before(until) && m.asked.has(k.session, k.ticket) {
		// The clock may be set, and a machine may sleep: poll it.
		timer := time.NewTimer(max(min(m.cfg.Limits.Poll, until.Sub(m.cfg.Now())), time.Millisecond))
		select {
		case <-m.life.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
	return true
}

// apart returns the approvers that notify no person, and the others.
func (m *Monitor) apart() (keepers, others []approval.Approver) {
	for _, a := range m.cfg.Approvers {
		if _, ok := a.(approval.Keeper); ok {
			keepers = append(keepers, a)
		} else {
			others = append(others, a)
		}
	}
	return keepers, others
}
