package provenance

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Without words nothing is understood: no clause asks, nobody says yes.
func TestNoLexicon(t *testing.T) {
	var none *Lexicon
	for _, r := range none.Requests("Send it to Bob.") {
		if r.Licenses([]string{"send"}) {
			t.Error("something was asked for")
		}
	}
	if none.Assents("yes") || none.Small("to") || len(none.Listed()) > 0 || len(none.Writers()) > 0 {
		t.Error("something was understood")
	}
	if w := none.ReadWhen("on May 5"); w.Says() {
		t.Error("a month was understood")
	}
}

// Every list of the file is read: a name that is misspelled there would leave
// one empty, and an empty list of what denies would allow.
func TestLexiconIsFull(t *testing.T) {
	v := reflect.ValueOf(NewLexicon().grammar()).Elem()
	for i := range v.NumField() {
		if v.Field(i).Len() == 0 {
			t.Errorf("%s is empty", v.Type().Field(i).Name)
		}
	}
	for _, name := range []string{"item", "member", "channel"} {
		if !slices.Contains(NewLexicon().Listed(), name) {
			t.Errorf("%s is not listed", name)
		}
	}
	if !slices.Contains(NewLexicon().Writers(), "sender") || slices.Contains(NewLexicon().Listed(), "sender") {
		t.Error("who wrote something is not what is listed")
	}
	for word, want := range map[string]bool{"to": true, "from": true, "participants": false, "": false} {
		if NewLexicon().Small(word) != want {
			t.Errorf("%q is small: %v", word, !want)
		}
	}
}

// Usual words are found where they stand, so they stand in order.
func TestUsualWords(t *testing.T) {
	words := strings.Split(strings.TrimSuffix(usualWords, "\n"), "\n")
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Error("the words are not in order, or one is there twice")
	}
	for _, w := range words {
		if !common(w) {
			t.Errorf("%q is not found", w)
		}
		for _, other := range []string{w + "x", "x" + w, w[:len(w)-1]} {
			if common(other) != slices.Contains(words, other) {
				t.Errorf("%q: %v", other, common(other))
			}
		}
	}
	for _, w := range []string{"", "\n", "a\nabout", "zzz", "0"} {
		if common(w) {
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
		if inGroup(c.group, c.word) != c.want {
			t.Errorf("%s in %s: %v", c.word, c.group, !c.want)
		}
	}
	if !connects("von") || connects("amount") || !isCurrency("quid") || isCurrency("von") {
		t.Error("the groups are mixed up")
	}
}
