package membership

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
)

// What waits is told beside what is wrong.
func TestBehindIsToldBesideTrouble(t *testing.T) {
	for want, s := range map[string]fleetlink.State{
		"not reached yet, now: away, 1005 sessions not known to be uploaded": {Trouble: "away", Behind: 1005},
		"not reached yet, 7 sessions not known to be uploaded":               {Behind: 7}, "not reached yet": {},
	} {
		if got := contactLine(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := contactLine(fleetlink.State{Ended: true, Behind: 7}); strings.Contains(got, "7 sessions") {
		t.Errorf("%q", got)
	}
}
