package owner

import (
	"errors"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// An incident that was found outside is recorded once: in its session, or in the list of incidents
// without one.
func TestReport(t *testing.T) {
	r := newRoom(t)
	if _, err := r.Monitor.Handle(t.Context(), "", hook.Event{Point: hook.SessionStart, Agent: "codex", Session: "codex:s", Cause: hook.Startup}); err != nil {
		t.Fatal(err)
	}
	call := func(kind, id string) *wire.Incident {
		return &wire.Incident{Kind: kind, Call: id, Text: "it ran", Tool: &wire.ToolRef{Agent: "codex", Name: "write_stdin"}}
	}
	report := func(session string, list ...*wire.Incident) int64 {
		t.Helper()
		a, err := r.Report(t.Context(), me(), &wire.ReportRequest{Session: session, Incidents: list})
		if err != nil {
			t.Fatal(err)
		}
		return a.GetWritten()
	}
	for _, x := range []struct {
		session string
		list    []*wire.Incident
		want    int64
	}{
		{"codex:s", []*wire.Incident{call("unmediated-call", "c1"), call("unmediated-call", "c1")}, 1},
		{"codex:s", []*wire.Incident{call("unmediated-call", "c1"), call("unmediated-call", "c2"), call("refused-call-ran", "c1")}, 2},
		{"codex:other", []*wire.Incident{call("unseen-session", "")}, 1},
		{"codex:other", []*wire.Incident{call("unseen-session", "")}, 0},
		{"codex:third", []*wire.Incident{call("unseen-session", "")}, 1},
	} {
		if got := report(x.session, x.list...); got != x.want {
			t.Errorf("%s: %d written, want %d", x.session, got, x.want)
		}
	}
	for session, want := range map[string]int{"codex:s": 3, string(monitor.Incidents): 2} {
		a, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: session})
		if err != nil || len(a.GetIncidents()) != want {
			t.Errorf("%s: %v, %v", session, a.GetIncidents(), err)
		}
	}
}

// Only reportable incidents are accepted, and a bounded number of them.
func TestReportRefuses(t *testing.T) {
	r := newRoom(t)
	fine := &wire.Incident{Kind: "unseen-session"}
	for name, q := range map[string]*wire.ReportRequest{
		"no session":        {Incidents: []*wire.Incident{fine}},
		"another kind":      {Session: "codex:s", Incidents: []*wire.Incident{{Kind: "monitor-killed"}}},
		"said of a session": {Session: "codex:s", Incidents: []*wire.Incident{{Kind: "definition-accepted"}}},
		"found nowhere":     {Session: string(monitor.Incidents), Incidents: []*wire.Incident{fine}},
		"too many at once":  {Session: "codex:s", Incidents: slices.Repeat([]*wire.Incident{fine}, maxReported+1)},
	} {
		if _, err := r.Report(t.Context(), me(), q); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a, err := r.Report(t.Context(), me(), &wire.ReportRequest{Session: "codex:s", Incidents: slices.Repeat([]*wire.Incident{fine}, maxReported)}); err != nil || a.GetWritten() != 1 {
		t.Errorf("at the limit: %v, %v", a, err)
	}
}

// A decision of the owner outside the monitor is recorded each time, with the caller's name.
func TestReportSaid(t *testing.T) {
	r := newRoom(t)
	for range 2 {
		word := &wire.Incident{Kind: "definition-accepted", Text: "mail/send in version 0123abcd"}
		a, err := r.Report(t.Context(), me(), &wire.ReportRequest{Session: string(monitor.Incidents), Incidents: []*wire.Incident{word}})
		if err != nil || a.GetWritten() != 1 {
			t.Fatal(a, err)
		}
	}
	a, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: string(monitor.Incidents)})
	if err != nil || len(a.GetIncidents()) != 2 || a.GetIncidents()[1].GetText() != "mail/send in version 0123abcd, by "+byOf(me()) {
		t.Errorf("%v, %v", a.GetIncidents(), err)
	}
}
