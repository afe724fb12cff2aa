package kernel_test

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// With stopUnseen, a session in which something ran unseen is allowed nothing any more, not even to
// look. Other incidents, and sessions without that setting, go on.
func TestStopUnseen(t *testing.T) {
	for name, c := range map[string]struct {
		policy, kind string
		stops        bool
	}{
		"unmediated":      {"stopUnseen: true\n", "unmediated-call", true},
		"refused and ran": {"stopUnseen: true\n", "refused-call-ran", true},
		"session":         {"stopUnseen: true\n", "unseen-session", true},
		"another":         {"stopUnseen: true\n", "clear-not-believed", false},
		"not set":         {"", "unmediated-call", false},
		"set to no":       {"stopUnseen: false\n", "unmediated-call", false},
	} {
		d := newDesk(t, c.policy)
		d.owner("Look around.")
		d.apply(floodmark.IncidentSeen{Kind: c.kind}, floodmark.IncidentSeen{Kind: "clear-not-believed"})
		got := d.call("look", `{"q":"x"}`).Reply.Decision
		if stops := got.Verdict == floodmark.Restrict && len(got.Reasons) > 0 && got.Reasons[0].Rule == "stopUnseen"; stops != c.stops {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
