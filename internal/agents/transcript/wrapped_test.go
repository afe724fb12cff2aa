package transcript

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
)

// A refused call with an unreadable result does not count as run. A call that was never judged is a
// finding nevertheless.
func TestUnreadResults(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	s := Session{Agent: openclawName, Names: []string{"s"}, Calls: []Call{{ID: "call_1", Tool: "tool_call", Outcome: Ran, Unread: true, At: at}}}
	for name, c := range map[string]struct {
		judged Decision
		want   [4]int // ran, judged, unknown, findings
	}{
		"refused":    {Decision{Call: "call_1"}, [4]int{0, 0, 1, 0}},
		"allowed":    {Decision{Call: "call_1", Allowed: true}, [4]int{1, 1, 0, 0}},
		"not judged": {Decision{Call: "call_2", Allowed: true}, [4]int{1, 0, 0, 1}},
	} {
		r := Match(s, []*Record{{Opened: at.Add(-time.Hour), Decisions: []Decision{c.judged}}}, at.Add(-time.Hour))
		if got := [4]int{r.Ran, r.Judged, r.Unknown, len(r.Findings)}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A call that OpenClaw ran within another was judged under an ID of its own, but the transcript has
// only the outer call.
func TestWrappedCallsWereJudged(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for judged, found := range map[floodmark.CallID]bool{
		"tool_search_code:call_1:web_fetch:1":   false,
		"tool_search_code:call_1:web_fetch:12":  false,
		"call_1":                                false,
		"tool_search_code:call_2:web_fetch:1":   true,
		"tool_search_code:call_1":               true,
		"tool_search_code:call_1:1":             true,
		"tool_search_code:x:call_1:web_fetch:1": true,
		"tool_search_code::web_fetch:1":         true,
	} {
		s := Session{Agent: openclawName, Names: []string{"s"}, Calls: []Call{{ID: "call_1", Tool: "tool_call", Outcome: Ran, At: at}}}
		r := Match(s, []*Record{{Opened: at.Add(-time.Hour), Decisions: []Decision{{Call: judged, Allowed: true}}}}, at.Add(-time.Hour))
		if (len(r.Findings) > 0) != found {
			t.Errorf("judged as %s: %+v", judged, r.Findings)
		}
		r = Match(s, []*Record{{Opened: at.Add(-time.Hour), Decisions: []Decision{{Call: judged}}}}, at.Add(-time.Hour))
		if len(r.Findings) != 1 || (r.Findings[0].Kind == RefusedRan) == found {
			t.Errorf("refused as %s: %+v", judged, r.Findings)
		}
	}
}
