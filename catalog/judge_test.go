package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

func TestWhichEffectsLeaveTheMachine(t *testing.T) {
	for e, want := range map[floodmark.Effect]bool{admin: false, run: true, send: true, change: false, write: false, fetch: true, observe: false} {
		c := oneTool(t, "    effect: "+e.String()+"\n"+returnsLocal)
		if u := c.Classify(builtin("pi", "t"), nil, nil, here()); u.Network != want {
			t.Errorf("%v: %v", e, u.Network)
		}
		c = oneTool(t, "    effect: "+e.String()+"\n    remote: true\n"+returnsLocal)
		if u := c.Classify(builtin("pi", "t"), nil, nil, here()); !u.Network {
			t.Errorf("remote %v", e)
		}
	}
}

func TestWordsThatAskForAnEffect(t *testing.T) {
	for e, want := range map[floodmark.Effect]string{admin: "", run: "", send: "send reply forward", change: "change delete cancel", write: "write save create", fetch: "", observe: ""} {
		got := oneTool(t, "    effect: [observe, "+e.String()+"]\n"+returnsLocal).Classify(builtin("pi", "t"), nil, nil, here()).Licence
		if (got == nil) != (want == "") {
			t.Errorf("%v: %v", e, got)
		}
		for _, w := range strings.Fields(want) {
			if !slices.Contains(got, w) {
				t.Errorf("%v: no %s in %v", e, w, got)
			}
		}
	}
}

func TestPossibleEffects(t *testing.T) {
	c := oneTool(t, "    effect: send\n"+returnsLocal+"    args: {a: {role: critical, is: flag}}\n"+
		"    when: [{arg: a, in: [x], effect: [observe, change]}, {arg: a, in: [y], effect: send}, {arg: a, in: [z], licence: [z]}]\n")
	if got := c.Possible(builtin("pi", "t")); !slices.Equal(got, effects(send, change, observe)) {
		t.Errorf("%v", got)
	}
	c = oneTool(t, "    effect: run\n"+returnsLocal+"    args: {a: {role: critical, is: command}}\n")
	if got := c.Possible(builtin("pi", "t")); !slices.Equal(got, effects(run, observe)) {
		t.Errorf("a command may only look: %v", got)
	}
	if got := c.Possible(builtin("pi", "u")); !slices.Equal(got, effects(run)) {
		t.Errorf("unknown: %v", got)
	}
}

// Of two files the first takes precedence, for names and for prefixes of the same length.
func TestEarlierFilesCount(t *testing.T) {
	file := func(effect string) *File {
		return parse(t, "agent: pi\ntools: [{tool: [x, \"y*\"], effect: "+effect+", returns: {trust: local, secrecy: public}}]")
	}
	c := New([]*File{file("send"), file("write")}, New([]*File{file("fetch")}, nil))
	for _, tool := range []string{"x", "y", "yes"} {
		if u := c.Classify(builtin("pi", tool), nil, nil, here()); !sameEffects(u.Effects, effects(send)) {
			t.Errorf("%s: %v", tool, u.Effects)
		}
	}
	for _, tool := range []string{"xy", "X"} {
		if _, ok := c.Lookup(builtin("pi", tool)); ok {
			t.Errorf("%s is known", tool)
		}
	}
}

// What the path decides, and what a case replaces or tightens of it.
func TestReturnsByPathAndCase(t *testing.T) {
	c := oneTool(t, `    effect: observe
    returns: {trust: path, secrecy: path}
    args: {p: {role: critical, is: path}, m: {role: critical, is: flag}}
    when:
      - {arg: m, in: [public], returns: {secrecy: public}}
      - {arg: m, in: [mail], returns: {trust: external}}
      - {arg: m, in: [both], returns: {trust: shared, secrecy: private}}
`)
	for _, tc := range []struct {
		path, mode, want string
		byPath           bool
		location         PathKind
	}{
		{"x", "", "local/internal", true, InProject},
		{"/x", "", "local/private", true, Elsewhere},
		{"/tmp/x", "", "external/private", true, Foreign},
		{"vendor/x", "", "external/internal", true, Foreign},
		{"/x", "public", "local/public", true, Elsewhere},
		{"/tmp/x", "public", "external/public", true, Foreign},
		{"x", "mail", "external/internal", false, InProject},
		{"x", "both", "shared/private", false, InProject},
		{"x", "Public", "local/private", true, InProject},
		{"/tmp/key", "public", "external/secret", true, Foreign},
	} {
		u := c.Classify(builtin("pi", "t"), args("p", tc.path, "m", tc.mode), nil, here())
		if u.Returns.String() != tc.want || u.ByPath != tc.byPath || u.Location != tc.location {
			t.Errorf("%s %s: %v %v %v, want %v", tc.path, tc.mode, u.Returns, u.ByPath, u.Location, tc)
		}
	}
	// If a call has no path, it reads the folder the agent works in.
	if u := c.Classify(builtin("pi", "t"), nil, nil, here()); u.Location != InProject || u.Place != "/home/u/work/app" || u.PathKind != InProject {
		t.Errorf("no path: %+v", u)
	}
	if u := c.Classify(builtin("pi", "t"), nil, nil, Places{}); u.Location != Elsewhere || u.Place != "" {
		t.Errorf("no project: %+v", u)
	}
}

// Changing an instructing file is admin; reading or sending it is not.
func TestGuardedFilesByEffect(t *testing.T) {
	for e, want := range map[floodmark.Effect][3]bool{ // an instructing file, a protected one, and the folder it is in
		run: {true, true, false}, send: {false, true, false}, change: {true, true, true}, write: {true, true, false}, fetch: {false, true, false}, observe: {},
	} {
		c := oneTool(t, "    effect: "+e.String()+"\n"+returnsLocal+"    args: {p: {role: critical, is: path}}\n")
		u := c.Classify(builtin("pi", "t"), args("p", "AGENTS.md"), nil, here())
		if u.Instructs != want[0] || slices.Contains(u.Effects, admin) != want[0] || (u.PathKind == Instructs) != want[0] {
			t.Errorf("%v: %+v", e, u)
		}
		for i, path := range []string{".mon/conf", ".mon"} {
			if u := c.Classify(builtin("pi", "t"), args("p", path), nil, here()); u.SelfProtected != want[i+1] {
				t.Errorf("%v %s: %v %v", e, path, u.SelfProtected, u.Effects)
			}
		}
	}
}
