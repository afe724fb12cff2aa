package kernel

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

const inertTools = `
agent: a
about: tools of these tests
tools:
  - tool: edit
    about: edits a file
    effect: write
    returns: {trust: local, secrecy: internal}
    args:
      path: {role: critical, is: path}
      content: {role: content, is: text}
      old_string: {role: content, is: text}
      new_string: {role: content, is: text}
      edits: {role: content, is: text}
      text: {role: critical, is: text}
      new_name: {role: critical, is: text}
`

// Each condition of an edit that can only compute.
func TestInertCalls(t *testing.T) {
	tools, err := catalog.Parse("tools", []byte(inertTools))
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New([]*catalog.File{tools}, nil)
	leaf := func(path, value string) hook.Leaf {
		return hook.Leaf{Path: path, Top: path, Value: value, Kind: hook.String}
	}
	of := func(path, value string) hook.Leaf {
		return hook.Leaf{Path: path, Top: "edits", Value: value, Kind: hook.String}
	}
	const computes, acts = "x = 1\n", "import os\nos.system('id')\n"
	at := leaf("path", "/p/a.py")
	for _, k := range []struct {
		name   string
		leaves []hook.Leaf
		want   bool
	}{
		{"a whole file", []hook.Leaf{at, leaf("content", computes)}, true},
		{"a whole file that acts", []hook.Leaf{at, leaf("content", acts)}, false},
		{"no text", []hook.Leaf{at}, false},
		{"an edit", []hook.Leaf{at, leaf("old_string", computes), leaf("new_string", "x = 2\n")}, true},
		{"an edit that acts", []hook.Leaf{at, leaf("old_string", computes), leaf("new_string", acts)}, false},
		{"an edit of a word", []hook.Leaf{at, leaf("old_string", "a"), leaf("new_string", "b")}, false},
		{"nothing but what was there", []hook.Leaf{at, leaf("old_string", acts)}, false},
		{"what was there acts", []hook.Leaf{at, leaf("old_string", acts), leaf("new_string", "import\n")}, false},
		{"a number beside it", []hook.Leaf{at, leaf("content", computes), {Path: "line", Top: "line", Value: "3", Kind: hook.Number}}, true},
		{"a text nobody knows", []hook.Leaf{at, leaf("content", computes), leaf("other", "x")}, false},
		{"two edits", []hook.Leaf{at, of("edits[0].old", "\nx = 0\n"), of("edits[0].newText", "\nx = 1\n"), of("edits[1].old", "\ny = 0\n"), of("edits[1].newText", "\ny = 1\n")}, true},
		{"words that lead out of the project", []hook.Leaf{at, leaf("content", "x = '../x'\n")}, false},
		{"the second acts", []hook.Leaf{at, of("edits[0].old", "\n"), of("edits[0].newText", "\nx = 1\n"), of("edits[1].old", "\n"), of("edits[1].newText", acts)}, false},
		{"the first acts", []hook.Leaf{at, of("edits[0].old", "\n"), of("edits[0].newText", acts), of("edits[1].old", "\n"), of("edits[1].newText", "\n")}, false},
		{"a critical text", []hook.Leaf{at, leaf("text", computes)}, false},
		{"a critical new name", []hook.Leaf{at, leaf("new_name", "\n")}, false},
	} {
		j := &judged{use: c.Classify(floodmark.ToolRef{Agent: "a", Name: "edit"}, k.leaves, nil, catalog.Places{Project: "/p"}), leaves: k.leaves}
		st := &step{s: &State{Project: "/p"}}
		if got := st.computes(j, "/p/a.py"); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
}
