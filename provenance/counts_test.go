package provenance

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// What is remembered is bounded; beyond the bound everything is asked, and the answer is the same.
func TestCountsAreBounded(t *testing.T) {
	var c Counts
	most := maxCountBytes / countBytes
	if c.of("a", most-1) == nil || c.of("b", 2) != nil || c.of("b", 1) == nil || c.Size() != maxCountBytes {
		t.Errorf("%d bytes", c.Size())
	}
	var l Ledger
	asked := 0
	for n := range 3 {
		mustAdd(t, &l, source(n, label(floodmark.Trust(n), floodmark.Public)))
	}
	for range 2 {
		if got := l.Count(&c, "c", func(_ *floodmark.Source, trust floodmark.Trust) bool { asked++; return trust > 0 }); got != 2 {
			t.Errorf("%d of 3", got)
		}
	}
	if asked != 6 {
		t.Errorf("beyond the bound %d were asked, want 6", asked)
	}
}

// A session that is shorter than it was is another one.
func TestCountsOfAnotherSession(t *testing.T) {
	var c Counts
	count := func(trust ...floodmark.Trust) int {
		var l Ledger
		for n, at := range trust {
			mustAdd(t, &l, source(n, label(at, floodmark.Public)))
		}
		return l.Count(&c, "a", func(_ *floodmark.Source, trust floodmark.Trust) bool { return trust > 0 })
	}
	if count(1, 2, 3) != 3 || count(0, 1) != 1 || c.Size() != 2*countBytes {
		t.Errorf("%d bytes", c.Size())
	}
}
