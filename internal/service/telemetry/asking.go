package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
)

// asking counts the cost of questions, as "floodmark journal stats" does from the journal. Counts
// that need a question's text are only in those statistics.
type asking struct {
	tasks    prometheus.Counter
	resolved *prometheus.CounterVec
	times    prometheus.Histogram

	// The fields below are only used by the worker. turns are the sessions in whose current turn
	// something was decided. asked is when each open question was asked. uses is how often an
	// approval may still be used for its original call.
	turns map[who]bool
	asked map[floodmark.TicketID]time.Time
	uses  map[floodmark.TicketID]int
}

// maxFollowed bounds each of these maps. If there are more, the counts are inexact.
const maxFollowed = 4096

func resolvers() []string {
	return []string{"grant", "auditor", "verifier", "person", "voided", "expired"}
}

func newAsking(f factory) *asking {
	a := &asking{
		tasks: f.counter("floodmark_tasks_total"), resolved: f.counters("floodmark_resolved_total"), times: f.answers("floodmark_answer_seconds"),
		turns: map[who]bool{}, asked: map[floodmark.TicketID]time.Time{}, uses: map[floodmark.TicketID]int{},
	}
	for _, by := range resolvers() {
		a.resolved.WithLabelValues(by)
	}
	return a
}

// fact counts one fact.
func (a *asking) fact(f told, w who, at time.Time) {
	w.agent = "" // it may be unknown at first
	switch f := f.(type) {
	case *turn:
		delete(a.turns, w)
	case *decided:
		if !a.turns[w] {
			a.tasks.Inc()
			if len(a.turns) >= maxFollowed {
				clear(a.turns)
			}
			a.turns[w] = true
		}
		for _, r := range f.Decision.Reasons {
			if r.Code == floodmark.Verified {
				a.resolved.WithLabelValues("verifier").Inc()
				break
			}
		}
	case *asked:
		if len(a.asked) < maxFollowed {
			a.asked[f.Ticket] = at
		}
	case *replied:
		a.replied(f, at)
	case *granted:
		if len(a.uses) >= maxFollowed {
			clear(a.uses)
		}
		a.uses[f.Ticket]++
	case *used:
		if a.uses[f.Ticket] > 0 {
			a.uses[f.Ticket]--
			return
		}
		a.resolved.WithLabelValues("grant").Inc()
	case *opined:
		if f.Verdict == floodmark.Allow && f.Says != audit.Silent.String() { // with failMode allow, the verdict is also allow if there is no opinion
			a.resolved.WithLabelValues("auditor").Inc()
		}
	case *opened, *closed, *answer, *loop, *spawned, *announced, *arrived, *incident, *guessed, *vouched:
	}
}

func (a *asking) replied(f *replied, at time.Time) {
	began, known := a.asked[f.Ticket]
	delete(a.asked, f.Ticket)
	if f.Verdict != floodmark.Allow && f.Verdict != floodmark.Restrict {
		a.resolved.WithLabelValues("voided").Inc()
		return
	}
	a.resolved.WithLabelValues("person").Inc()
	if known {
		a.times.Observe(at.Sub(began).Seconds())
	}
}

// expired counts a question that expired without an answer.
func (a *asking) expired(t floodmark.TicketID) {
	delete(a.asked, t)
	a.resolved.WithLabelValues("expired").Inc()
}

// answers makes a histogram for the times in which people answer: from a second to an hour.
func (f factory) answers(name string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: described(name).help, Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600},
	})
	f.registry.MustRegister(h)
	return h
}
