package monitor

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// held are the questions that wait to be sent, each with its calls in order. A call waits until an
// earlier call of its question is sent, or until quiet hours end. They are in memory only; after a
// restart the monitor finds them in the journal, with the time they wait for.
type held struct {
	mu   sync.Mutex // guards wait
	wait map[heldKey][]approval.Ticket
}

type heldKey struct {
	session journal.Session
	ticket  floodmark.TicketID
}

func newHeld() *held { return &held{wait: map[heldKey][]approval.Ticket{}} }

// add queues a call of a question behind earlier calls of the same question. It reports whether no
// goroutine is sending them yet; the caller must then start one.
func (h *held) add(k heldKey, t approval.Ticket) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, behind := h.wait[k]
	h.wait[k] = append(list, t)
	return !behind
}

// next removes and returns the tickets to send now. It returns nil when the queue is empty, and then
// ends it.
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

// release sends a question to people. It keeps the order of the question's calls, because only the
// code that was made last answers it. A question that was closed during quiet hours is not sent.
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

// quiet waits until the time until, when quiet hours end, or until the question is closed. It
// returns false if the monitor stops before.
func (m *Monitor) quiet(k heldKey, until time.Time) bool {
	for m.cfg.Now().Before(until) && m.asked.has(k.session, k.ticket) {
		// Poll the clock, because it may be set and the machine may sleep.
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
