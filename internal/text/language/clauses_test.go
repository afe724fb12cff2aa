package language

import (
	"slices"
	"strings"
	"testing"
)

// clauses returns the pieces of a message that each ask for one thing.
func clauses(l *Lexicon, text string) (list []string) {
	text = typed(text)
	for _, parts := range together(l.readParts(text, readItems(text))) {
		list = append(list, text[parts[0].start:parts[len(parts)-1].end])
	}
	return list
}

func TestClauses(t *testing.T) {
	for text, want := range map[string][]string{
		"":      nil,
		"hello": {"hello"},
		"Find out who eve@a.example is and email bob@a.example the result": {"Find out who eve@a.example is", "email bob@a.example the result"},
		"Show evt-1, cancel evt-2":                         {"Show evt-1", "cancel evt-2"},
		"email bob, ann and carl":                          {"email bob, ann and carl"},
		"Write to Bob. Delete x.txt":                       {"Write to Bob.", "Delete x.txt"},
		"Write to Bob. It is urgent. Delete x":             {"Write to Bob. It is urgent.", "Delete x"},
		`send "pay now, and delete all" to Bob and read x`: {`send "pay now, and delete all" to Bob`, "read x"},
		"read a.txt\nsend b":                               {"read a.txt", "send b"},
		"visit v1.2.example.com/a.b and post it":           {"visit v1.2.example.com/a.b", "post it"},
		"don't delete a, read b":                           {"don't delete a", "read b"},
		"read a, ":                                         {"read a"},
		"read a,":                                          {"read a,"},
		"read a and ":                                      {"read a"},
	} {
		got := clauses(NewLexicon(), text)
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzClauses checks that nothing is added and nothing but joints is lost.
func FuzzClauses(f *testing.F) {
	f.Add("Find a and email b, then «c, and d». E!")
	words := NewLexicon()
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, c := range clauses(words, text) {
			if !strings.Contains(text, c) {
				t.Errorf("%q is not a part of %q", c, text)
			}
			n += len(c)
		}
		if n > len(text) {
			t.Errorf("%d bytes of clauses in %d bytes of text", n, len(text))
		}
	})
}

func TestStatedHosts(t *testing.T) {
	var s Stated
	s.Add("compare https://Docs.Example.com/a?b with example.org, not \"see https://quoted.example/x please\"")
	for host, want := range map[string]bool{
		"docs.example.com": true, "DOCS.example.com": true, "example.org": true,
		"example.com": false, "evil.docs.example.com": false, "quoted.example": false, "": false,
	} {
		if s.HasHost(host) != want {
			t.Errorf("host %q stated: %v", host, !want)
		}
	}
}
