package telemetry

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// observations returns the observations of a real turn.
func observations(b *testing.B) []monitor.Observation {
	b.Helper()
	s := newStage(b, Options{})
	var list []monitor.Observation
	inner, err := monitor.New(monitor.Config{
		Journal: journal.NewMemory(), Rules: s.rules, Key: s.key, Now: s.opts.Now,
		NewCode: func() string { return "00000000" }, NewTicket: func() floodmark.TicketID { return "t1" },
		Observe: func(o monitor.Observation) { list = append(list, o) },
	})
	if err != nil {
		b.Fatal(err)
	}
	s.monitor = inner
	s.play(b)
	s.tell(b, hook.Event{Point: hook.BeforeToolCall, Session: "s1", Call: hook.Call{ID: "c3", Name: "read", Args: json.RawMessage(`{"path":"notes.txt"}`)}})
	s.tell(b, hook.Event{Point: hook.SessionEnd, Session: "s1"})
	return list
}

func everything(b *testing.B) Options {
	b.Helper()
	return Options{Traces: newCollector(b).URL, Events: filepath.Join(b.TempDir(), "events.jsonl")}
}

// BenchmarkObserve measures the cost of telemetry for an answer, with everything on.
func BenchmarkObserve(b *testing.B) {
	list := observations(b)
	s := newStage(b, everything(b))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		s.Observe(list[n%len(list)])
		if n++; n%1024 == 0 { // a pause, as between real answers, so that it is not the queue's end that is measured
			b.StopTimer()
			s.settle(b.Context())
			b.StartTimer()
		}
	}
	b.ReportMetric(value(b, s.metrics, "floodmark_telemetry_lost_total"), "lost")
}

// BenchmarkTell measures the handling of observations from the queue.
func BenchmarkTell(b *testing.B) {
	list := observations(b)
	s := newStage(b, everything(b))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		o := list[n%len(list)]
		s.queue <- item{seen: &seen{session: o.Session, agent: o.Agent, point: o.Point, entries: o.Entries, mark: o.Mark}}
		n++
	}
	s.settle(b.Context())
}
