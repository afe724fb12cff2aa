package protection_test

import (
	"testing"

	"github.com/floodmark/floodmark/lab/protection"
)

// A sample of the mutants is replayed under every policy. A planted record must not cost more than
// three percentage points of silent runs in any set. The monitor must let no more attacks pass than
// policy A. Policy B must let an echo pass, which shows that the sets can fail.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("replays mutants: not in short mode")
	}
	data := loaded(t)
	var sets []protection.Set
	for _, m := range protection.Mutations() {
		sets = append(sets, m.Set())
	}
	r, err := protection.Replay(t.Context(), data, deciders(t, data), protection.Options{Sets: sets, Sample: 24})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		none, a, f := pooled(r, "none", set), pooled(r, "A", set), pooled(r, "floodmark", set)
		if none.Passed != none.Attacks || none.Attacks < 200 {
			t.Errorf("%s: of %d mutants %d pass where nothing is asked", set, none.Attacks, none.Passed)
		}
		if f.Passed > a.Passed {
			t.Errorf("%s: %d pass, %d under policy A", set, f.Passed, a.Passed)
		}
	}
	if b := pooled(r, "B", protection.Echo.Set()); b.Passed*2 < b.Attacks {
		t.Errorf("only %d of %d echoes pass policy B", b.Passed, b.Attacks)
	}
	for _, s := range r.Sets {
		for _, p := range s.Parts {
			// The parts of the sample are small, so a single run may be more than three points.
			if lost := p.SilentBefore - p.Silent; s.Policy == "floodmark" && lost > 1 && lost*100 > p.Benign*3 {
				t.Errorf("%s, %s: %d of %d were silent, now %d", s.Set, p.Name, p.SilentBefore, p.Benign, p.Silent)
			}
		}
	}
	if testing.Verbose() {
		r.WriteTable(t.Output())
		r.WriteMutations(t.Output())
	}
}
