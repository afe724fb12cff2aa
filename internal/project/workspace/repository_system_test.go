package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/project/workspace"
)

// A folder is a folder in which tests run git as several people.
type folder struct {
	t    *testing.T
	path string
}

func newFolder(t *testing.T) folder {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT TESTED: there is no git")
	}
	path, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return folder{t, path}
}

// git runs git under an author's name, without global or system settings.
func (f folder) git(who string, args ...string) string {
	f.t.Helper()
	c := exec.CommandContext(f.t.Context(), "git", args...)
	c.Dir = f.path
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.path, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_COMMITTER_NAME=x",
		"GIT_AUTHOR_EMAIL=" + who, "GIT_COMMITTER_EMAIL=" + who,
	}
	out, err := c.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit changes a file and commits it, and returns the commit.
func (f folder) commit(who, text string) string {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.path, "a.txt"), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.git(who, "add", "a.txt")
	f.git(who, "commit", "-q", "-m", text+strings.Repeat(" and more", 50))
	return f.git(who, "rev-parse", "HEAD")
}

func (f folder) want(d *workspace.Disk, own bool, commit string) {
	f.t.Helper()
	c, ok := d.Around(filepath.Join(f.path, "deep", "file.go"))
	if !ok || c.Own != own || c.Commit != commit || c.Root != f.path {
		f.t.Errorf("%+v %v, want own %v, commit %q", c, ok, own, commit)
	}
}

// A checkout is the owner's if all its commits are, loose or packed.
func theOwnersOwnCheckout(t *testing.T) {
	f := newFolder(t)
	if _, ok := disk().Around(f.path); ok {
		t.Error("a folder without git is a checkout")
	}
	f.git(owner, "init", "-q")
	if _, ok := disk().Around(f.path); ok {
		t.Error("a checkout without a commit says something")
	}
	for i := range 30 {
		f.commit(owner, strings.Repeat("x", i+1))
	}
	d := disk()
	f.want(d, true, "")
	f.git(owner, "gc", "-q", "--aggressive")
	f.want(disk(), true, "")
	f.git(owner, "pack-refs", "--all")
	f.want(disk(), true, "")

	theirs := f.commit(stranger, "foreign")
	f.want(d, false, theirs)
	f.git(owner, "gc", "-q")
	f.want(disk(), false, theirs)
	f.commit(owner, "mine again") // the newest commit by another author stays the same
	f.want(d, false, theirs)
	f.git(owner, "checkout", "-q", "--detach")
	f.want(d, false, theirs)
}

// A clone does not become the owner's by commits with the owner's name, because author names can be
// forged.
func aCloneIsNotTheOwnersByItsNames(t *testing.T) {
	from := newFolder(t)
	from.git(owner, "init", "-q")
	base := from.commit(owner, "one")
	f := newFolder(t)
	f.git(owner, "clone", "-q", from.path, f.path)
	d := disk()
	f.want(d, false, base)
	f.commit(owner, "two")
	f.want(d, false, base)
	if c, _ := d.Around(f.path); c.Remote != from.path {
		t.Errorf("cloned from %q", c.Remote)
	}
	from.commit(stranger, "three")
	f.git(owner, "pull", "-q", "--no-rebase", "-s", "ours", "--no-edit")
	if c, _ := d.Around(f.path); c.Own || c.Commit == base {
		t.Errorf("what was pulled from others is not seen: %+v", c)
	}
}

// A checkout whose .git file points to another repository's files would otherwise get that
// repository's origin.
func aBorrowedRepositoryIsForeign(t *testing.T) {
	f := newFolder(t)
	f.git(owner, "init", "-q")
	head := f.commit(owner, "one")
	other := newFolder(t)
	if err := os.WriteFile(filepath.Join(other.path, ".git"), []byte("gitdir: "+f.path+"/.git\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other.want(disk(), false, head)
	tree := newFolder(t)
	tree.path = filepath.Join(tree.path, "tree")
	f.git(owner, "worktree", "add", "-q", tree.path)
	tree.want(disk(), true, "")
}

// The owner's mail address is read from the owner's settings, and not from a repository's.
func identities(t *testing.T) {
	f := newFolder(t)
	f.git(stranger, "init", "-q")
	head := f.commit(stranger, "one")
	f.git(stranger, "config", "user.email", stranger)
	home := t.TempDir()
	d := workspace.New(workspace.Options{Home: home})
	f.want(d, false, head)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = x\n\temail = \"Eve@news.example\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.want(workspace.New(workspace.Options{Home: home}), true, "")
}

// Tracked files are read from git's index, in each of its forms, and from the commit, even in a
// pack. No setting of the repository affects the result.
func whatGitKeeps(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.git("a@x", "init", "-q", "-b", "main")
	if err := os.MkdirAll(filepath.Join(f.path, "deep", "er"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"deep/er/a longer name.txt", "deep/er/a longer name.txt2", "b", "deep/c"} {
		if err := os.WriteFile(filepath.Join(f.path, name), []byte(strings.Repeat(name+"\n", 50)), 0o600); err != nil {
			t.Fatal(err)
		}
		f.git("a@x", "add", name)
	}
	first := f.commit("a@x", "one")
	f.git("a@x", "rm", "-q", "--cached", "b") // the file is still in the commit
	if err := os.WriteFile(filepath.Join(f.path, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.git("a@x", "config", "core.fsmonitor", "touch "+filepath.Join(f.path, "ran"))
	for _, form := range []string{"2", "3", "4", "packed"} {
		if form == "packed" {
			f.git("a@x", "-c", "core.fsmonitor=false", "gc", "-q", "--prune=now")
			f.git("a@x", "-c", "core.fsmonitor=false", "replace", "-f", "HEAD:deep/c", "HEAD:b")
		} else {
			f.git("a@x", "-c", "core.fsmonitor=false", "update-index", "--index-version", form)
		}
		h := workspace.HistoryOf(filepath.Join(f.path, "deep"))
		for name, want := range map[string]bool{"deep/er/a longer name.txt": true, "deep/er/a longer name.txt2": true, "b": true, "deep/c": true, "a.txt": true, "new": false, "deep/new": false} {
			if got, err := h.Tracks(name); got != want || err != nil {
				t.Errorf("version %s, %s: %v, %v", form, name, got, err)
			}
		}
		for name, want := range map[string]string{"deep/c": strings.Repeat("deep/c\n", 50), "a.txt": "one", "deep": "", "new": ""} {
			if got, ok := h.File(first, name); string(got) != want || ok != (want != "") {
				t.Errorf("%s, %s: %q", form, name, got)
			}
		}
		h.Close()
	}
	f.git("a@x", "-c", "core.fsmonitor=false", "update-index", "--split-index")
	h := workspace.HistoryOf(f.path)
	defer h.Close()
	if _, err := h.Tracks("new"); err == nil {
		t.Error("a list whose names are in another file is taken for whole")
	}
	if _, err := os.Stat(filepath.Join(f.path, "ran")); err == nil {
		t.Error("a program of the repository ran")
	}
}

// TestRepositories runs the tests whose repositories are made by git itself.
func TestRepositories(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"the owners own checkout", theOwnersOwnCheckout},
		{"a clone is not the owners by its names", aCloneIsNotTheOwnersByItsNames},
		{"a borrowed repository is foreign", aBorrowedRepositoryIsForeign},
		{"identities", identities},
		{"what steers a push", whatSteersAPush},
		{"what git obeys", whatGitObeys},
		{"settings that say nothing about a push", settingsThatSayNothingAboutAPush},
		{"settings of a work tree steer a push", settingsOfAWorkTreeSteerAPush},
		{"settings elsewhere steer a push", settingsElsewhereSteerAPush},
		{"only the branch that is checked out", onlyTheBranchThatIsCheckedOut},
		{"a teams repository tomorrow", aTeamsRepositoryTomorrow},
		{"what is not the teams", whatIsNotTheTeams},
		{"a torn store", aTornStore},
		{"what git keeps", whatGitKeeps},
		{"what words name", whatWordsName},
		{"a merge under way", aMergeUnderWay},
		{"no commit checked out", noCommitCheckedOut},
		{"a stash on a stranger's commit", aStashOnAStrangersCommit},
	} {
		t.Run(c.name, c.test)
	}
}
