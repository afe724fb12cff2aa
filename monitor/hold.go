package monitor

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// held are the questions of quiet hours that nobody was told of yet. They are in
// memory only: another life of the monitor finds them in the journal, with the
// time they wait for.
type held struct {
	mu   sync.Mutex // guards wait
	wait map[heldKey][]approval.Ticket
}

type heldKey struct {
	session journal.Session
	ticket  floodmark.TicketID
}

func newHeld() *held { return &held{wait: map[heldKey][]approval.Ticket{}} }

// add puts a question behind what waits of the same one, if something does or if
// it has to wait. first says that somebody has to tell it later.
func (h *held) add(k heldKey, t approval.Ticket, now time.Time) (waits, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, behind := h.wait[k]
	if !behind && !now.Before(t.Held) {
		return false, false
	}
	h.wait[k] = append(list, t)
	return true, !behind
}

// next takes what is to be told now; nothing is left if it is empty.
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

// holds keeps a question of quiet hours back, and reports whether it did. Whoever
// only keeps questions gets it at once.
func (m *Monitor) holds(s journal.Session, t approval.Ticket) bool {
	k := heldKey{s, t.ID}
	waits, first := m.held.add(k, t, m.cfg.Now())
	if !waits {
		return false
	}
	keepers, others := m.apart()
	m.send(s, t, keepers)
	if first && m.join() == nil {
		go func() {
			defer m.work.Done()
			m.release(k, t.Held, others)
		}()
	}
	return true
}

// release tells people of a question when the quiet hours are over by the clock,
// in the order in which its calls came: only the last code answers it. What was
// answered meanwhile is not told.
func (m *Monitor) release(k heldKey, until time.Time, to []approval.Approver) {
	for m.cfg.Now().Before(until) && m.asked.has(k.session, k.ticket) {
		// The clock may be set, and a machine may sleep: it is looked at often.
		timer := time.NewTimer(max(min(m.cfg.Limits.Poll, until.Sub(m.cfg.Now())), time.Millisecond))
		select {
		case <-m.life.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
	for list := m.held.next(k); list != nil; list = m.held.next(k) {
		for _, t := range list {
			if m.asked.has(k.session, k.ticket) {
				m.tell(k.session, t, to)
			}
		}
	}
}

// apart are the approvers that ring nobody, and the others.
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
