package spelling_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/spelling"
)

func TestEdits(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, x := range []struct {
		a, b         string
		edits, swaps int
	}{
		{"", "", 0, 0},
		{"", "abc", 3, 3},
		{"rules", "rules", 0, 0},
		{"rule", "rules", 1, 1},
		{"roles", "rules", 1, 1},
		{"rulse", "rules", 2, 1},
		{"abcd", "badc", 3, 2},
		{"kitten", "sitting", 3, 3},
		{"ca", "abc", 3, 3},
		{long, long, 64, 0},
		{long, "x", 64, 64},
	} {
		for _, way := range [][2]string{{x.a, x.b}, {x.b, x.a}} {
			if got := spelling.Edits(way[0], way[1]); got != x.edits {
				t.Errorf("from %q to %q: %d edits, want %d", way[0], way[1], got, x.edits)
			}
			if got := spelling.EditsOrSwaps(way[0], way[1]); got != x.swaps {
				t.Errorf("from %q to %q: %d edits or swaps, want %d", way[0], way[1], got, x.swaps)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"exec", "execute", "read", "web_fetch", "web_search"}
	for got, want := range map[string]string{
		"exce": "exec", "reed": "read", "web_": "web_fetch web_search", "xyz": "", "EXEC": "exec", "": "",
	} {
		if near := strings.Join(spelling.Nearest(got, words, 2), " "); near != want && !(got == "EXEC" && strings.HasPrefix(near, want)) {
			t.Errorf("Nearest(%q) is %q, want %q", got, near, want)
		}
	}
}
