package artifact

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// gitDisk says by folder where git finds its files.
type gitDisk struct {
	emptyDisk
	at map[string]string
}

func (d gitDisk) Repository(p string) (dir, common string) {
	common, _, _ = strings.Cut(d.at[p], "/worktrees/")
	return d.at[p], common
}

func (d gitDisk) Nested(string) (folders []string, all bool) { return []string{"/p/Made"}, true }

// Settings are the project's own if git keeps them with those of the project.
func TestGitSettings(t *testing.T) {
	t.Parallel()
	fresh := newBooks(t)
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
		b := fresh()
		b.At.Project, b.Disk = c.project, c.disk
		if paths, own := b.gitSettings(c.dir); own != c.own || len(paths) == 0 {
			t.Errorf("project %q, git in %s: %v, %q", c.project, c.dir, own, paths)
		}
	}
}

// untrustedWord returns the record that a session left at ref, in the project /p.
func untrustedWord(ref floodmark.ArtifactRef, spares bool) shelf {
	version := floodmark.ArtifactVersion{Session: "s"}
	return shelf{
		{Version: version, Artifact: floodmark.Artifact{Ref: ref, Spares: spares, Sources: []floodmark.Source{
			{Kind: floodmark.NodeToolResult, Label: floodmark.Label{Secrecy: floodmark.Public}},
		}}},
		{Version: version, Artifact: floodmark.Artifact{Ref: folderRef("/p"), Below: []floodmark.ArtifactRef{ref}}},
	}
}

// A git command runs code if the settings it obeys are trusted below Local.
func TestObeyed(t *testing.T) {
	t.Parallel()
	fresh := newBooks(t)
	disk := gitDisk{at: map[string]string{"/p": "/p/.git", "/p/src": "/p/.git", "/p/bare": "/p/bare", "/p/made": "/p/made/.git"}}
	low, clean := floodmark.Label{Secrecy: floodmark.Internal}, floodmark.Label{Trust: floodmark.Owner, Secrecy: floodmark.Internal}
	for _, c := range []struct {
		name   string
		disk   Disk
		words  shelf
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
		b := fresh()
		b.At.Project, b.Disk, b.Store = "/p", c.disk, c.words
		call := Call{Use: &catalog.Use{Repositories: []string{c.dir}}}
		var touches touch
		if c.writes != "" {
			touches.writes = []string{c.writes}
		}
		if got := len(b.obeyed(call, &touches, c.mark)) > 0; got != c.runs {
			t.Errorf("%s: it runs code: %v", c.name, got)
		}
	}
}
