package language

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Without words nothing is understood: no clause asks, no answer says yes.
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

// Every list of the file is read. A list whose name is misspelled would be empty, and
// an empty list of words that deny would allow something.
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

// A phrase is passed over by how it begins, so each is written with single blanks.
func TestPhrasesAreWrittenPlainly(t *testing.T) {
	g := NewLexicon().grammar()
	for _, list := range [][]string{g.Openers, g.Waits, g.Defers, g.Assents, g.AssentsWith} {
		if len(list) == 0 {
			t.Error("a list is empty")
		}
		for _, words := range list {
			if strings.Join(strings.Fields(words), " ") != words {
				t.Errorf("%q", words)
			}
		}
	}
}
