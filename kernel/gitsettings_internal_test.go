package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
)

// leftWords are the records that sessions left behind.
type leftWords []Kept

func (l leftWords) Find(refs []floodmark.ArtifactRef) []Kept {
	return slices.DeleteFunc(slices.Clone(l), func(k Kept) bool { return !slices.Contains(refs, k.Ref) })
}

// codingSteps makes steps of the session s in the profile coding.
func codingSteps(t *testing.T) func() *step {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\nprofile: coding")})
	shipped, err := catalog.Shipped()
	if problems.Failed() || err != nil {
		t.Fatal(problems, err)
	}
	rules := NewRules(p, shipped)
	return func() *step {
		return newStep(NewState(), rules, Input{Event: hook.Event{Agent: "a", Session: "s"}})
	}
}

// gitDisk says by folder where git finds its files.
type gitDisk struct {
	pushDisk
	at map[string]string
}

func (d gitDisk) Repository(p string) (dir, common string) {
	common, _, _ = strings.Cut(d.at[p], "/worktrees/")
	return d.at[p], common
}

func (d gitDisk) Nested(string) (folders []string, all bool) { return []string{"/p/Made"}, true }

func (gitDisk) Links(string, bool) map[string]string { return nil }
func (gitDisk) Missing(string) bool                  { return false }
func (gitDisk) Exactly(string) (d floodmark.Digest)  { return d }
func (gitDisk) Head(string) string                   { return "" }
func (gitDisk) Starts(string, []string) []string     { return nil }

// Settings are the project's own if git keeps them with those of the project.
func TestGitSettings(t *testing.T) {
	t.Parallel()
	fresh := codingSteps(t)
	disk := gitDisk{at: map[string]string{
		"/p": "/p/.git", "/p/src": "/p/.git", "/tree": "/p/.git/worktrees/w", "/p/sub": "/p/.git/modules/sub",
		"/p/bare": "/p/bare", "/p/nested": "/p/nested/.git", "/like": "/p/.gitlike", "/w": "/main/.git/worktrees/w", "/main": "/main/.git",
	}}
	for _, c := range []struct {
		disk         Disk
		project, dir string
		own          bool
	}{
		{nil, "/p", "/p", true},
		{nil, "/p", "/p/.git", true},
		{nil, "/p", "/p/src", false},
		{nil, "/p", "/other", false},
		{nil, "", "/p", false},
		{disk, "/p", "/p", true},
		{disk, "/p", "/p/src", true},
		{disk, "/p", "/tree", true},
		{disk, "/p", "/p/sub", true},
		{disk, "/p", "/p/bare", false},
		{disk, "/p", "/p/nested", false},
		{disk, "/p", "/like", false},
		{disk, "/p", "/unknown", false},
		{disk, "/w", "/main", true}, // the project is a working tree of it
		{disk, "", "/p", false},
	} {
		st := fresh()
		st.s.Project, st.in.Disk = c.project, c.disk
		if paths, own := st.left().gitSettings(c.dir); own != c.own || len(paths) == 0 {
			t.Errorf("project %q, git in %s: %v, %q", c.project, c.dir, own, paths)
		}
	}
}

// untrustedWord returns the record that a session left at ref, in the project /p.
func untrustedWord(ref floodmark.ArtifactRef, spares bool) leftWords {
	version := floodmark.ArtifactVersion{Session: "s"}
	return leftWords{
		{Version: version, Artifact: floodmark.Artifact{Ref: ref, Spares: spares, Sources: []floodmark.Source{
			{Kind: floodmark.NodeToolResult, Label: floodmark.Label{Secrecy: floodmark.Public}},
		}}},
		{Version: version, Artifact: floodmark.Artifact{Ref: folderRef("/p"), Below: []floodmark.ArtifactRef{ref}}},
	}
}

// A git command runs code if the settings it obeys are trusted below Local.
func TestObeyed(t *testing.T) {
	t.Parallel()
	fresh := codingSteps(t)
	disk := gitDisk{at: map[string]string{"/p": "/p/.git", "/p/src": "/p/.git", "/p/bare": "/p/bare", "/p/made": "/p/made/.git"}}
	low, clean := floodmark.Label{Secrecy: floodmark.Internal}, floodmark.Label{Trust: floodmark.Owner, Secrecy: floodmark.Internal}
	for _, c := range []struct {
		name   string
		disk   Disk
		words  leftWords
		dir    string
		mark   floodmark.Label
		writes string
		runs   bool
	}{
		{"its own", nil, nil, "/p", low, "", false},
		{"after a pull", nil, untrustedWord(treeRef("/p"), true), "/p", low, "", false},
		{"after a commit", nil, untrustedWord(fileRef("/p"+catalog.CommitsOf), false), "/p", low, "", false},
		{"after an archive", nil, untrustedWord(treeRef("/p"), false), "/p", low, "", true},
		{"below it, after a pull", nil, untrustedWord(treeRef("/p"), true), "/p/bare", low, "", true},
		{"below it, after a pull, on a disk", disk, untrustedWord(treeRef("/p"), true), "/p/src", low, "", false},
		{"a bare one, on a disk", disk, untrustedWord(treeRef("/p"), true), "/p/bare", low, "", true},
		{"made here, on a disk", disk, untrustedWord(treeRef("/p"), true), "/p/made", low, "", false},
		{"unpacked, on a disk", disk, untrustedWord(treeRef("/p/made"), false), "/p/made", low, "", true},
		{"with an unpacked one in it", nil, untrustedWord(treeRef("/p/vendor"), false), "/p", low, "", true},
		{"with a folder of files in it, on a disk", disk, untrustedWord(treeRef("/p/vendor"), false), "/p", low, "", false},
		{"with an unpacked one in it, on a disk", disk, untrustedWord(treeRef("/p/made"), false), "/p", low, "", true},
		{"with the settings of one, on a disk", disk, untrustedWord(fileRef("/p/made/.git/config"), false), "/p", low, "", true},
		{"with a pulled one in it", nil, untrustedWord(treeRef("/p/vendor"), true), "/p", low, "", false},
		{"with a file in it", nil, untrustedWord(fileRef("/p/src/a.py"), false), "/p", low, "", false},
		{"outside", nil, nil, "/other", clean, "", true},
		{"outside, on a disk", disk, nil, "/other", clean, "", true},
		{"nobody knows", nil, nil, "", low, "", true},
		{"nobody knows, nothing read", nil, nil, "", clean, "", false},
		{"a pull on the line", nil, nil, "/p", low, "/p/*", false},
		{"an archive on the line", nil, nil, "/p", low, "/p/**", true},
		{"an archive of the owner's on the line", nil, nil, "/p", clean, "/p/**", false},
		{"a pull on the line, below it", disk, nil, "/p/src", low, "/p/*", true},
		{"a file on the line, below it", disk, nil, "/p/src", low, "/p/src/a.py", false},
		{"a HEAD on the line, below it", disk, nil, "/p/src", low, "/p/src/head", true},
	} {
		st := fresh()
		st.s.Project, st.in.Disk, st.in.Artifacts = "/p", c.disk, c.words
		call := Call{Use: &catalog.Use{Repositories: []string{c.dir}}}
		var touches touch
		if c.writes != "" {
			touches.writes = []string{c.writes}
		}
		if got := len(st.left().obeyed(call, &touches, c.mark)) > 0; got != c.runs {
			t.Errorf("%s: it runs code: %v", c.name, got)
		}
	}
}

func (gitDisk) Revisions(string, []string) []Checkout { return nil }
