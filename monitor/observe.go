package monitor

import (
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// An Observation is one processed event, for monitoring. It is reported after the facts are
// durable, or after the refusal is certain. Entries contain the facts, so also the owner's words;
// no field contains a code.
type Observation struct {
	Session journal.Session
	Agent   string
	Point   hook.Point // empty for an owner's command or an incident
	// Entries were written to the session. Link is the session's last entry after that, and Mark
	// its mark.
	Entries []journal.Entry
	Link    journal.Link
	Mark    floodmark.Label
	// Verdict and Ticket are those of the reply. If Err is set, the reply was the zero Reply.
	Verdict floodmark.Verdict
	Ticket  floodmark.TicketID
	// Err is why there was no answer. Warning is an error that does not change the answer, such as
	// an approver that could not be reached.
	Err, Warning error
	// Cold says that the session was read from the journal.
	Cold bool
	// Conflicts is how often another node wrote to the session first.
	Conflicts int
	// These are the times, summed over all tries, that it took to get the session's turn, to load
	// the session, to judge the event, and to make the facts durable.
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

// An Occupancy is how full a monitor is at one moment.
type Occupancy struct {
	Sessions int   // sessions in memory
	Bytes    int64 // the memory that these sessions take, approximately
	InFlight int   // events being worked on, or waiting for their session's turn
	Waiters  int   // callers of [Monitor.Await]
}

// Occupancy returns how full m is, in constant time under one lock.
func (m *Monitor) Occupancy() Occupancy {
	m.seats.mu.Lock()
	n, bytes := len(m.seats.all), m.seats.bytes
	m.seats.mu.Unlock()
	return Occupancy{Sessions: n, Bytes: bytes, InFlight: len(m.slots), Waiters: len(m.waits)}
}
