package tally

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel/replay"
)

// Commands in boxes are counted neither as questions nor as refused.
func TestBoxesAreCounted(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	source := floodmark.Source{Kind: floodmark.NodeToolResult, Label: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Internal}, Call: "c"}
	boxed := floodmark.ActionDecided{
		Action:   floodmark.Action{Kind: floodmark.CallTool, Call: "c", Tool: floodmark.ToolRef{Agent: "pi", Name: "bash"}},
		Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Boxed},
	}
	refused := floodmark.ActionDecided{Action: boxed.Action, Decision: floodmark.Decision{Verdict: floodmark.Restrict, Reach: floodmark.Free}}
	facts := []floodmark.Fact{
		floodmark.SessionOpened{Agent: "pi"},
		floodmark.TurnOpened{Turn: 1},
		boxed,
		floodmark.ContentSeen{Source: source},
		floodmark.ContentArrived{Label: source.Label, BoxTicket: "t", BoxFailed: true},
		boxed, refused,
	}
	s := Session{Name: "s"}
	for i, f := range facts {
		s.Facts = append(s.Facts, replay.Recorded{At: at.Add(time.Duration(i) * time.Second), Fact: f})
	}
	for since, want := range map[time.Duration][3]int{0: {2, 1, 1}, 5 * time.Second: {1, 0, 1}} {
		a, err := Count([]Session{s}, at.Add(since), at.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if f := a.Figures(); [3]int{f.Boxed, f.BoxFailed, f.Refused} != want || f.Questions != 0 {
			t.Errorf("since %v: %+v", since, f)
		}
	}
}
