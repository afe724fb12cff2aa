package approval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// Each call allowed in a box is remembered until its result comes, whatever calls are made in
// between. At the limit, every call is treated as such a call.
func TestCallsInBoxesAreKnownUntilTheyEnd(t *testing.T) {
	b := Book{}
	run := []floodmark.Effect{floodmark.Run}
	for _, c := range []floodmark.CallID{"a", "b", "b"} {
		b.Boxes(floodmark.Action{Call: c, Effects: run}, floodmark.Boxed)
	}
	b.Boxes(floodmark.Action{Call: "free", Effects: run}, floodmark.Free)
	before := b
	b.BoxEnded(floodmark.ContentArrived{}, "b")
	if !b.HadToBeBoxed("a") || !b.HadToBeBoxed("b") || b.HadToBeBoxed("free") {
		t.Errorf("after one of the two calls of a name: %q", b.InBoxes)
	}
	b.BoxEnded(floodmark.ContentArrived{}, "b")
	if !b.HadToBeBoxed("a") || b.HadToBeBoxed("b") || !slices.Equal(before.InBoxes, []floodmark.CallID{"a", "b", "b"}) {
		t.Errorf("after both: %q, and what another state knows: %q", b.InBoxes, before.InBoxes)
	}
	for i := range 2 * maxInBoxes {
		b.Boxes(floodmark.Action{Call: floodmark.CallID(fmt.Sprint(i)), Effects: run}, floodmark.Boxed)
	}
	b.BoxEnded(floodmark.ContentArrived{}, "a")
	if len(b.InBoxes) != maxInBoxes || !b.HadToBeBoxed("a") || !b.HadToBeBoxed("unknown") {
		t.Errorf("too many: %d", len(b.InBoxes))
	}
}
