package membership

import (
	"context"
	"testing"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// An answer is passed on once, and again if its question has changed since.
func TestAQuestionThatChangedIsAnsweredAgain(t *testing.T) {
	passed := 0
	a := NewAsker(Parts{Answer: func(context.Context, journal.Session, approval.Command) (monitor.Answered, error) {
		passed++
		return monitor.Answered{}, nil
	}}, nil, nil)
	for i, seen := range []string{"before", "before", "now"} {
		open := []*wire.Question{{Ticket: "t-1", Session: "s1", Seen: seen, Calls: []*wire.AskedCall{{}}}}
		a.Take(t.Context(), open, &wire.FleetAnswer{Ticket: "t-1", Session: "s1", Verb: "deny", Seen: seen, By: "anna"})
		if want := []int{1, 1, 2}[i]; passed != want {
			t.Errorf("answer %d, to %q: %d were passed on, want %d", i, seen, passed, want)
		}
	}
}
