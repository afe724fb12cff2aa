package did

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/tally"
)

// Tools of two agents whose names differ only in their case are told apart by the agent.
func TestToolsOfTwoAgents(t *testing.T) {
	q := func(agent, name string) *tally.Question {
		return &tally.Question{Fact: floodmark.ActionDecided{Action: floodmark.Action{Tool: floodmark.ToolRef{Agent: agent, Name: name}}}}
	}
	b := bill{fold: &fold{questions: []*tally.Question{q("pi", "bash"), q("codex", "Bash"), q("pi", "edit")}}}
	names := b.toolNames()
	for i, want := range []string{"bash of pi", "Bash of codex", "edit"} {
		if got := names(b.fold.questions[i]); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
