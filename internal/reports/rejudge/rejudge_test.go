package rejudge_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/rejudge"
	"github.com/floodmark/floodmark/kernel/replay"
)

// A call that would have left its box would have got further, although both decisions allow it.
func TestLooser(t *testing.T) {
	decided := func(v floodmark.Verdict, r floodmark.Reach) floodmark.Decision {
		return floodmark.Decision{Verdict: v, Reach: r}
	}
	boxed, free := decided(floodmark.Allow, floodmark.Boxed), decided(floodmark.Allow, floodmark.Free)
	asked, askedFree := decided(floodmark.Confirm, floodmark.Boxed), decided(floodmark.Confirm, floodmark.Free)
	for _, c := range []struct {
		name       string
		was, would floodmark.Decision
		want       bool
	}{
		{"out of the box", boxed, free, true},
		{"into the box", free, boxed, false},
		{"asked, then boxed", asked, boxed, true},
		{"allowed, then asked", free, asked, false},
		{"asked both times", asked, askedFree, false},
	} {
		d := replay.Rejudged{Outcome: replay.Changed, Was: c.was, Would: c.would}
		if got := rejudge.Looser(d); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
