package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// The owner's words raise the trust of a call to Owner at most: what a policy asks at
// Owner, it asks about a relaxed call, too, whatever trust the question has.
func TestRelaxEndsAtOwner(t *testing.T) {
	p := load(t, user("table: {send: {owner: confirm, local: confirm, shared: confirm, external: confirm, untrusted: confirm}}"))
	q := ask("t", floodmark.Send, floodmark.External)
	q.Trust, q.Relaxed = floodmark.System, true
	if got := p.Decide(q); got.Verdict != floodmark.Confirm {
		t.Errorf("relaxed beyond the owner: %+v", got)
	}
}
