package meaning_test

import (
	"testing"

	"github.com/floodmark/floodmark/internal/text/meaning"
)

// Only what a person did by hand is left out where incidents are counted.
func TestOwnActs(t *testing.T) {
	for kind, want := range map[string]bool{
		"policy-saved": true, "policy-rolled-back": true, "policy-loaded": true, "undo": true, "definition-accepted": true,
		"policy-changed": false, "policy-not-saved": false, "unmediated-call": false, "agent-at-owner-door": false, "": false,
	} {
		if got := meaning.OwnAct(kind); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}
