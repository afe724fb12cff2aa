package agents

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A call that the monitor itself makes after an approval is not asked about in an agent's own
// window, because after an approval there the agent would make it.
func TestWindowed(t *testing.T) {
	asked := hook.Reply{Ticket: "t1", Decision: floodmark.Decision{Verdict: floodmark.Confirm, Reach: floodmark.Free}}
	if !windowed(asked) {
		t.Error("a question cannot be asked in a window")
	}
	for name, change := range map[string]func(r *hook.Reply){
		"a push that is shown": func(r *hook.Reply) { r.Shown = floodmark.DigestOf("x") },
		"in a box":             func(r *hook.Reply) { r.Decision.Reach = floodmark.Boxed },
		"no question":          func(r *hook.Reply) { r.Ticket = "" },
		"refused":              func(r *hook.Reply) { r.Decision.Verdict = floodmark.Restrict },
		"a gate":               func(r *hook.Reply) { r.Decision.Verifiers = []string{"x"} },
		"the turn is over":     func(r *hook.Reply) { r.BlockTurn = true },
	} {
		r := asked
		if change(&r); windowed(r) {
			t.Errorf("%s: it can", name)
		}
	}
}
