package linefinds_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/linefinds"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// A line that only deletes single files, and what makes it any other line.
func TestEachConditionOfARemoval(t *testing.T) {
	rm := shellscan.Effect{Kind: shellscan.Delete, Command: "rm", Path: "/p/a"}
	with := func(change func(e *shellscan.Effect)) shellscan.Effect { e := rm; change(&e); return e }
	made := func(change func(e *shellscan.Effect)) shellscan.Effect {
		e := shellscan.Effect{Kind: shellscan.Write, Command: "cp", Path: "/p/a"}
		change(&e)
		return e
	}
	part := func(words ...string) shellscan.Part {
		return shellscan.Part{Words: words, Effects: []floodmark.Effect{floodmark.Change}}
	}
	for _, c := range []struct {
		name    string
		parts   []shellscan.Part
		effects []shellscan.Effect
		files   int
		only    bool
	}{
		{"as it is", []shellscan.Part{part("rm")}, []shellscan.Effect{rm}, 1, true},
		{"a part without words", []shellscan.Part{part()}, []shellscan.Effect{rm}, 0, false},
		{"a part that changes something else", []shellscan.Part{part("rm"), part("kubectl")}, []shellscan.Effect{rm}, 0, false},
		{"by another program", nil, []shellscan.Effect{with(func(e *shellscan.Effect) { e.Command = "git" })}, 0, false},
		{"in a folder nobody knows", nil, []shellscan.Effect{with(func(e *shellscan.Effect) { e.Path = "a" })}, 0, false},
		{"by a pattern", nil, []shellscan.Effect{with(func(e *shellscan.Effect) { e.Pattern = true })}, 0, false},
		{"a tree", nil, []shellscan.Effect{with(func(e *shellscan.Effect) { e.Tree = true })}, 0, false},
		{"made before", nil, []shellscan.Effect{made(func(*shellscan.Effect) {}), rm}, 0, true},
		{"made after", nil, []shellscan.Effect{rm, made(func(*shellscan.Effect) {})}, 1, true},
		{"perhaps made before", nil, []shellscan.Effect{made(func(e *shellscan.Effect) { e.Pattern = true }), rm}, 1, true},
		{"a tree made before", nil, []shellscan.Effect{made(func(e *shellscan.Effect) { e.Tree = true }), rm}, 1, true},
		{"only written", nil, []shellscan.Effect{made(func(*shellscan.Effect) {})}, 0, false},
	} {
		r := &shellscan.Report{Understood: true, Parts: c.parts, Effects: c.effects}
		if files, only := linefinds.Removals(r); len(files) != c.files || only != c.only {
			t.Errorf("%s: %v %v", c.name, files, only)
		}
		r.Understood = false
		if files, only := linefinds.Removals(r); files != nil || only {
			t.Errorf("%s, not understood: %v %v", c.name, files, only)
		}
	}
}
