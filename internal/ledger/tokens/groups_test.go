package tokens

import (
	"slices"
	"strings"
	"testing"
)

// Usual words are found where they stand, so they stand in order.
func TestUsualWords(t *testing.T) {
	words := strings.Split(strings.TrimSuffix(usualWords, "\n"), "\n")
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Error("the words are not in order, or one is there twice")
	}
	for _, w := range words {
		if !Common(w) {
			t.Errorf("%q is not found", w)
		}
		for _, other := range []string{w + "x", "x" + w, w[:len(w)-1]} {
			if Common(other) != slices.Contains(words, other) {
				t.Errorf("%q: %v", other, Common(other))
			}
		}
	}
	for _, w := range []string{"", "\n", "a\nabout", "zzz", "0"} {
		if Common(w) {
			t.Errorf("%q is found", w)
		}
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		group, word string
		want        bool
	}{
		{"money", "amount", true},
		{"money", "donation", true},
		{"money", "usd", false},
		{"money", "", false},
		{"money", "amount sum", false},
		{"currency", "usd", true},
		{"currency", "eur", true},
		{"request", "merge", true},
		{"nothing", "merge", false},
		{"mon", "amount", false},
		{"", "amount", false},
		{"# Groups of words, each on a line", "own.", false},
	} {
		if InGroup(c.group, c.word) != c.want {
			t.Errorf("%s in %s: %v", c.word, c.group, !c.want)
		}
	}
	if !Connects("von") || Connects("amount") || !IsCurrency("quid") || IsCurrency("von") {
		t.Error("the groups are mixed up")
	}
}
