package language

import (
	"slices"
	"testing"
)

func TestBeginnings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Add Ann to the channel starting with Garden":           {"Garden"},
		"Add Ann to the channel whose name begins with \"gar\"": {"gar", "gar"},
		"Add Ann to the channel that starts with Garden":        {"Garden"},
		"Add Ann starting, with Garden":                         nil,
		"Add Ann starting with, Garden":                         nil,
		"Add Ann starting on Garden":                            nil,
		"Add Ann with Garden":                                   nil,
		"Add Ann to the channel starting with":                  nil,
	} {
		var got []string
		for _, r := range NewLexicon().Requests(text) {
			got = append(got, r.Beginnings()...)
		}
		if !slices.Equal(slices.Compact(got), slices.Compact(want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
