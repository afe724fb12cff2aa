package transcript

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
)

// A call that OpenClaw ran inside another was judged under a name of its own; the
// transcript knows the outer one.
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
