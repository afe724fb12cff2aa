package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// The owner's words make a call the owner's, never more: what a policy asks of
// the owner it asks of a relaxed call too, whatever trust came with it.
func TestRelaxEndsAtOwner(t *testing.T) {
	p := load(t, user("table: {send: {owner: confirm, local: confirm, shared: confirm, external: confirm, untrusted: confirm}}"))
	q := ask("t", floodmark.Send, floodmark.External)
	q.Trust, q.Relaxed = floodmark.System, true
	if got := p.Decide(q); got.Verdict != floodmark.Confirm {
		t.Errorf("relaxed beyond the owner: %+v", got)
	}
}
