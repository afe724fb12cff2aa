package gitwords

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

func TestEachConditionOfAPush(t *testing.T) {
	part := func(e floodmark.Effect, words ...string) shellscan.Part {
		return shellscan.Part{Words: words, Effects: []floodmark.Effect{e}}
	}
	push := part(floodmark.Send, "git", "push")
	send := shellscan.Effect{Kind: shellscan.Send, Command: "git"}
	hooks := shellscan.Effect{Kind: shellscan.Hook, Command: "git", Path: "/p/.git/hooks"}
	tree := shellscan.Effect{Kind: shellscan.Write, Command: "git", Path: "/p", Tree: true}
	for _, c := range []struct {
		name    string
		parts   []shellscan.Part
		effects []shellscan.Effect
		want    bool
	}{
		{"as it is", []shellscan.Part{push}, nil, true},
		{"no push", []shellscan.Part{part(floodmark.Observe, "git", "status")}, nil, false},
		{"another program", []shellscan.Part{part(floodmark.Observe, "hub", "push")}, nil, false},
		{"one word", []shellscan.Part{part(floodmark.Observe, "git")}, nil, false},
		{"a forced one", []shellscan.Part{part(floodmark.Send, "git", "push", "-f")}, nil, false},
		{"a forced one before", []shellscan.Part{part(floodmark.Write, "git", "push", "-f"), push}, nil, false},
		{"sends", []shellscan.Part{push, part(floodmark.Send, "mail")}, nil, false},
		{"sets up", []shellscan.Part{push, part(floodmark.Admin, "x")}, nil, false},
		{"changes", []shellscan.Part{push, part(floodmark.Change, "x")}, nil, false},
		{"runs", []shellscan.Part{push, part(floodmark.Run, "go", "test")}, nil, true},
		{"writes", []shellscan.Part{push, part(floodmark.Write, "git", "commit")}, nil, true},
		{"an address", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Fetch, URL: "https://a.example"}}, false},
		{"git writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "git"}, send}, true},
		{"git writes a tree before", []shellscan.Part{push}, []shellscan.Effect{tree, send}, false},
		{"git writes a tree after", []shellscan.Part{push}, []shellscan.Effect{send, tree}, true},
		{"a formatter writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "gofmt"}}, true},
		{"another writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "cp"}}, false},
		{"another reads", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Read, Command: "cat"}}, true},
		{"it may tell keys", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Environment}}, false},
		{"another folder", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Hook, Command: "git", Path: "/q/.git/hooks"}}, false},
		{"the other sort of hooks", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Hook, Command: "git", Path: "/p/.git/hooks/pre-push"}}, true},
		{"another program's hooks", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Hook, Command: "python3", Path: "/p/json.py"}}, true},
	} {
		r := &shellscan.Report{Understood: true, Parts: c.parts, Effects: append([]shellscan.Effect{hooks}, c.effects...)}
		if branch, got := Pushes(r, "/p"); got != c.want || branch != "" {
			t.Errorf("%s: %v %q", c.name, got, branch)
		}
		neverPushes(t, c.name, *r)
		if r.Loops = true; len(c.effects) > 0 && c.effects[len(c.effects)-1] == tree {
			if _, ok := Pushes(r, "/p"); ok {
				t.Errorf("%s: in a loop", c.name)
			}
		}
	}
}

// neverPushes checks that a line with any of these changes is no plain push.
func neverPushes(t *testing.T, name string, r shellscan.Report) {
	t.Helper()
	for why, change := range map[string]func(*shellscan.Report){
		"not understood": func(r *shellscan.Report) { r.Understood = false },
		"names a commit": func(r *shellscan.Report) { r.Names = []string{"/p"} },
		"no folder":      func(r *shellscan.Report) { r.Effects = nil },
	} {
		other := r
		change(&other)
		if _, ok := Pushes(&other, "/p"); ok {
			t.Errorf("%s: %s", name, why)
		}
	}
	if _, ok := Pushes(&r, ""); ok {
		t.Errorf("%s: no project", name)
	}
}

func TestPlainPush(t *testing.T) {
	for _, c := range []struct {
		words  []string
		branch string
		want   bool
	}{
		{nil, "", true},
		{[]string{"origin"}, "", true},
		{[]string{"origin", "HEAD"}, "", true},
		{[]string{"origin", "azAZ09./-"}, "azAZ09./-", true},
		{[]string{"origin", "main", "x"}, "", false},
		{[]string{"main"}, "", false},
		{[]string{""}, "", false},
		{[]string{"-x"}, "", false},
		{[]string{"origin", "a:b"}, "a:b", false},
		{[]string{"origin", "a`"}, "a`", false},
		{[]string{"origin", "{"}, "{", false},
		{[]string{"origin", "@"}, "@", false},
		{[]string{"origin", "["}, "[", false},
		{[]string{"origin", "é"}, "é", false},
		{[]string{"origin", "+a"}, "+a", false},
	} {
		if branch, got := PlainPush(c.words); got != c.want || branch != c.branch {
			t.Errorf("%q: %v %q", c.words, got, branch)
		}
	}
}
