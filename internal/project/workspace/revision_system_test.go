package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/project/workspace"
)

// A word that names a revision is judged like a checkout of the revision.
func whatWordsName(t *testing.T) {
	from, f := newFolder(t), newFolder(t)
	f.git(owner, "init", "-q", "-b", "main")
	first := f.commit(owner, "mine")
	f.git(owner, "checkout", "-q", "-b", "side")
	f.commit(owner, "mine, too")
	f.git(owner, "checkout", "-q", "main")
	last := f.commit(owner, "second")
	f.git(owner, "tag", "-a", "-m", "one", "v1", first)
	d := workspace.New(workspace.Options{Identities: []string{owner}})
	want := func(foreign bool, words ...string) {
		t.Helper()
		for _, w := range words {
			list := d.Revisions(f.path, []string{w})
			if got := len(list) > 0; got != foreign {
				t.Errorf("%q: %+v, want somebody's: %v", w, list, foreign)
			}
		}
	}
	want(false, "*", "side", "v1", "main..side", "@{u}", "HEAD@{1}", first[:8], "a.txt", "nothing", ":/mine")

	from.git(stranger, "clone", "-q", f.path, from.path)
	from.git(stranger, "checkout", "-q", "-b", "pr")
	evil := from.commit(stranger, "evil")
	f.git(owner, "remote", "add", "origin", from.path)
	f.git(owner, "fetch", "-q", "origin")
	f.git(owner, "tag", "-a", "-m", "theirs", "v2", evil)
	f.git(owner, "update-ref", "refs/pull/7/head", evil)
	strange := []string{
		"*", "origin/pr", "pr", "origin/pr:a.txt", "origin/pr~0", "origin/pr^{tree}", "main..origin/pr", "main...origin/pr", "origin/pr..", "^origin/pr", "..origin/pr",
		"refs/remotes/origin/pr", "remotes/origin/pr", "ORIGIN/PR", "v2", "tags/v2", "v2^{}", evil, evil[:7], evil[:4], "v1-2-g" + evil[:7], ":/evil", "FETCH_HEAD", "HEAD@{1}",
		"origin/*", "pull/7/head", from.git(stranger, "rev-parse", "pr:a.txt"), "@{-1}",
	}
	own := []string{"HEAD", "@", "HEAD~1", "HEAD^", "HEAD:a.txt", "main", "side", "v1", first, first[:7], last, "main..side", "a.txt", "nothing", "src/*", ".", "", ":a.txt", "Fix the main loop", "-x", "3"}
	want(true, strange...)
	want(false, own...)
	f.git(owner, "pack-refs", "--all")
	f.git(owner, "gc", "-q")
	want(true, strange...)
	want(false, own...)

	f.git(owner, "branch", "-q", "--set-upstream-to", "origin/pr")
	want(true, "@{u}", "@{upstream}..", "main@{u}")
	if err := os.WriteFile(filepath.Join(f.path, "a.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.git(owner, "stash")
	want(false, "stash@{0}", "stash", "refs/stash")
	f.git(owner, "update-ref", "--create-reflog", "refs/stash", evil)
	want(true, "stash@{0}", "stash", "stash^")
	f.git(owner, "reset", "-q", "--hard")

	theirs := f.git(stranger, "hash-object", "-t", "tag", "-w", tagBy(f, stranger, first))
	f.git(owner, "update-ref", "refs/tags/v3", theirs)
	f.git(owner, "symbolic-ref", "OTHER_HEAD", "refs/remotes/origin/pr")
	want(true, "v3^{tag}", "tags/v3^{tag}", theirs+"^{tag}", theirs[:8]+"^{tag}", "v2^{tag}", "OTHER_HEAD", "OTHER_HEAD:a.txt")
	want(false, "v3", "v1^{tag}", "main^{tag}", "nothing^{tag}")
}

// tagBy returns a file with an annotated tag on a commit.
func tagBy(f folder, who, commit string) string {
	at := filepath.Join(f.t.TempDir(), "tag")
	text := "object " + commit + "\ntype commit\ntag v3\ntagger x <" + who + "> 1 +0000\n\nread me\n"
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return at
}

// If the checked-out commit is unknown, it may be a stranger's.
func noCommitCheckedOut(t *testing.T) {
	f := newFolder(t)
	d := workspace.New(workspace.Options{Identities: []string{owner}})
	f.git(owner, "init", "-q", "-b", "main")
	if c, ok := d.Around(f.path); ok {
		t.Errorf("nothing is there yet: %+v", c)
	}
	f.commit(owner, "mine")
	f.git(owner, "checkout", "-q", "--orphan", "anew")
	if c, ok := d.Around(f.path); ok {
		t.Errorf("all is the owner's: %+v", c)
	}
	f.git(owner, "checkout", "-q", "-f", "-b", "pr", "main")
	f.commit(stranger, "evil")
	f.git(owner, "stash", "list")
	f.git(owner, "checkout", "-q", "--orphan", "anew")
	if c, ok := d.Around(f.path); !ok || c.Own {
		t.Errorf("a stranger's files: %+v, %v", c, ok)
	}
	if list := d.Revisions(f.path, []string{"pr:a.txt"}); len(list) != 1 {
		t.Errorf("a stranger's branch: %+v", list)
	}
	f.git(owner, "checkout", "-q", "-f", "main")
	f.git(owner, "pack-refs", "--all")
	at := filepath.Join(f.path, ".git", "packed-refs")
	text, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	id := f.git(owner, "rev-parse", "main")
	text = append(text, strings.Repeat(id+" refs/tags/many\n", 1<<15)...)
	if err := os.WriteFile(at, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, ok := d.Around(f.path); !ok || !c.Own {
		t.Errorf("with a long list of names: %+v, %v", c, ok)
	}
}

// A stash that was made on a stranger's commit contains the commit's whole tree.
func aStashOnAStrangersCommit(t *testing.T) {
	f := newFolder(t)
	f.git(owner, "init", "-q", "-b", "main")
	f.commit(owner, "mine")
	f.git(owner, "checkout", "-q", "-b", "pr")
	f.commit(stranger, "evil")
	if err := os.WriteFile(filepath.Join(f.path, "a.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.git(owner, "stash")
	f.git(owner, "checkout", "-q", "main")
	f.git(owner, "branch", "-q", "-D", "pr")
	d := workspace.New(workspace.Options{Identities: []string{owner}})
	for _, w := range []string{"stash", "stash@{0}", "refs/stash"} {
		if list := d.Revisions(f.path, []string{w}); len(list) != 1 {
			t.Errorf("%s: %+v", w, list)
		}
	}
}

// A merge that is under way is part of the checkout.
func aMergeUnderWay(t *testing.T) {
	f := newFolder(t)
	f.git(owner, "init", "-q", "-b", "main")
	f.commit(owner, "mine")
	f.git(owner, "checkout", "-q", "-b", "pr")
	f.commit(stranger, "evil")
	f.git(owner, "checkout", "-q", "main")
	d := workspace.New(workspace.Options{Identities: []string{owner}})
	for _, how := range []string{"merge", "cherry-pick"} {
		if c, ok := d.Around(f.path); !ok || !c.Own {
			t.Errorf("before: %+v", c)
		}
		if how == "merge" {
			f.git(owner, "merge", "-q", "--no-ff", "--no-commit", "pr")
		} else {
			f.git(owner, "update-ref", "CHERRY_PICK_HEAD", "pr")
		}
		if c, ok := d.Around(f.path); !ok || c.Own {
			t.Errorf("%s under way: %+v", how, c)
		}
		f.git(owner, "reset", "-q", "--hard")
	}
	if c, ok := d.Around(f.path); !ok || !c.Own {
		t.Errorf("after: %+v", c)
	}
}
