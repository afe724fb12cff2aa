package monitor

import (
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// An Observation is one processed event, for monitoring. It is reported after the facts are
// durable, or after the refusal is certain. Entries hold what facts hold, so also the owner's
// words; nothing here holds a code.
type Observation struct {
	Session journal.Session
	Agent   string
	Point   hook.Point // empty for an owner's command or an incident
	// Entries are what was written to the session, Link the last of it, and Mark the session's mark
	// now.
	Entries []journal.Entry
	Link    journal.Link
	Mark    floodmark.Label
	// Verdict and Ticket are the reply's. With Err the reply was zero.
	Verdict floodmark.Verdict
	Ticket  floodmark.TicketID
	// Err is why there was no answer. Warning is an error beside a valid answer: an approver that
	// could not be reached.
	Err, Warning error
	// Cold says that the session was read from the journal; Conflicts how often another writer came
	// first.
	Cold      bool
	Conflicts int
	// How long it took to get the session's turn, to recall it, to judge, and
	// to make it durable; in all tries together.
	Waited, Loaded, Judged, Wrote time.Duration
}

func (m *Monitor) observe(o Observation) {
	if m.cfg.Observe != nil {
		m.cfg.Observe(o)
	}
}

// A stopwatch measures where time goes. A nil one measures nothing.
type stopwatch struct {
	now  func() time.Time
	last time.Time
}

func (m *Monitor) stopwatch() *stopwatch {
	if m.cfg.Observe == nil {
		return nil
	}
	return &stopwatch{now: m.cfg.Now, last: m.cfg.Now()}
}

// lap adds the time since the last lap.
func (w *stopwatch) lap(sum *time.Duration) {
	if w == nil {
		return
	}
	now := w.now()
	*sum += now.Sub(w.last)
	w.last = now
}
