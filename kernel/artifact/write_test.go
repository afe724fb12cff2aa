package artifact

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// A pattern leaves out git's own folder unless it is meant for hidden names.
func TestWhatIsSpared(t *testing.T) {
	for p, want := range map[string]bool{
		"/p/*": true, "/p/*.go": true, "/p/src/a*": true, "/p/?x": true,
		"/p/.g*/hooks/x": false, "/p/.*": false, "/p/[.]git": false, "/p/**": false, "/p/src/*/**": false, "/p/a": false, "": false,
	} {
		if got := spares(p); got != want {
			t.Errorf("%q: %v", p, got)
		}
	}
	for p, want := range map[string]bool{"/p/.git": true, "/p/.git/hooks": true, "/p/.github": false, "/p/a.git/x": false, "/p": false} {
		if got := inGit(p); got != want {
			t.Errorf("%q: in git %v", p, got)
		}
	}
}

// Hooks of others add the effect run to a call, once.
func TestHooksOfOthersRun(t *testing.T) {
	write, run := floodmark.Write, floodmark.Run
	for _, c := range []struct {
		effects, want []floodmark.Effect
		hooks         int
	}{
		{[]floodmark.Effect{write}, []floodmark.Effect{write}, 0},
		{[]floodmark.Effect{write}, []floodmark.Effect{write, run}, 1},
		{[]floodmark.Effect{run}, []floodmark.Effect{run}, 2},
	} {
		got := RunsHooks(c.effects, make([]floodmark.Load, c.hooks))
		if len(got) != len(c.want) || got[len(got)-1] != c.want[len(c.want)-1] {
			t.Errorf("%v with %d hooks: %v", c.effects, c.hooks, got)
		}
	}
}

// A record has the spelling of all writes to a file, or none if they differ.
func TestSpelling(t *testing.T) {
	const upper, lower = "/p/Gen.js", "/p/gen.js"
	for _, c := range []struct {
		old     []string
		p       string
		lowers  bool
		spelled string
		same    bool
	}{
		{nil, upper, true, upper, true},
		{[]string{upper}, upper, true, upper, true},
		{[]string{upper}, lower, true, "", false},
		{[]string{upper}, lower, false, upper, false},
		{[]string{""}, upper, false, "", false},
		{[]string{""}, upper, true, "", false},
		{[]string{upper, upper}, upper, true, upper, true},
		{[]string{upper, lower}, upper, true, "", false},
		{[]string{lower, upper}, upper, false, "", false},
		{[]string{upper, upper}, lower, false, upper, false},
	} {
		var old []Kept
		for _, name := range c.old {
			old = append(old, Kept{Artifact: floodmark.Artifact{Ref: fileRef(name), Spelled: name}})
		}
		if spelled, same := spelling(old, c.p, c.lowers); spelled != c.spelled || same != c.same {
			t.Errorf("%q after %q, lowers %v: %q, %v", c.p, c.old, c.lowers, spelled, same)
		}
	}
}

// A file that was written as a whole is free of what its folder got before, but not a file of
// another spelling, which a disk may have beside it.
func TestAWholeFileOfAnotherSpelling(t *testing.T) {
	tree := Kept{Version: floodmark.ArtifactVersion{Session: "x", Seq: 1}, Artifact: floodmark.Artifact{Ref: treeRef("/p")}}
	over := []floodmark.ArtifactVersion{tree.Version}
	for spelled, want := range map[string][2]int{"/p/Gen.js": {1, 2}, "/p/gen.js": {2, 1}, "": {2, 2}} {
		b := newBooks(t)()
		file := floodmark.Artifact{Ref: fileRef("/p/gen.js"), Whole: true, Spelled: spelled, Over: over}
		b.Store = shelf{tree, {Version: floodmark.ArtifactVersion{Session: "y"}, Artifact: file}}
		if got := [2]int{len(b.onPath("/p/Gen.js")), len(b.onPath("/p/gen.js"))}; got != want {
			t.Errorf("written as %q: %v records, want %v", spelled, got, want)
		}
	}
}

// A call that writes two spellings at once leaves one record, which no whole write replaces.
func TestTwoSpellingsInOneCall(t *testing.T) {
	b := newBooks(t)()
	b.Store, b.At.Project = shelf{}, "/p"
	low := []floodmark.Source{{Kind: floodmark.NodeToolResult, Label: floodmark.Label{Secrecy: floodmark.Public}}}
	for _, p := range []string{"/p/Gen.js", "/p/gen.js"} {
		b.write(floodmark.ArtifactWritten{Artifact: fileRef(p)}, p, low, false)
	}
	if a := b.Done.Artifacts[0]; a.Ref != fileRef("/p/gen.js") || a.Spelled != "" || len(a.Sources) != 1 {
		t.Errorf("%+v", a)
	}
}
