package workspace_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/workspace"
	"github.com/floodmark/floodmark/kernel"
)

const owner, stranger = "anna@firm.example", "eve@news.example"

// A folder is a folder in which git is run by some people.
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

// git runs git as somebody, without anybody's settings.
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

func disk() *workspace.Disk { return workspace.New(workspace.Options{Identities: []string{owner}}) }

// A checkout is the owner's if all its commits are, loose or packed.
func TestTheOwnersOwnCheckout(t *testing.T) {
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
	f.commit(owner, "mine again") // the newest by somebody else stays the same
	f.want(d, false, theirs)
	f.git(owner, "checkout", "-q", "--detach")
	f.want(d, false, theirs)
}

// Anybody can write the owner's name on a commit: what was cloned is not the
// owner's because of it.
func TestACloneIsNotTheOwnersByItsNames(t *testing.T) {
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

// A file that points to git's files of another place borrows their good name.
func TestABorrowedRepositoryIsForeign(t *testing.T) {
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

// The owner's identity is in his own settings; those of a repository do not count.
func TestIdentities(t *testing.T) {
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

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		dir + "/link/new/file": dir + "/real/new/file", dir + "/real": dir + "/real", dir + "/none/x": dir + "/none/x",
	} {
		if got := disk().Resolve(path); got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
}

// put writes a file with an old time.
func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// changed looks until it saw enough: on a busy machine the time may be over before.
func changed(t *testing.T, dir string, since time.Time, enough func(kernel.Altered) bool) (found kernel.Altered) {
	t.Helper()
	for range 20 {
		if found = disk().Changed(t.Context(), dir, since); enough(found) {
			break
		}
	}
	return found
}

// later writes a file until the file system says that it is newer than another one, and
// returns when that was by its clock, which may be a coarse one.
func later(t *testing.T, than string) time.Time {
	t.Helper()
	old, err := os.Stat(than)
	if err != nil {
		t.Fatal(err)
	}
	probe := filepath.Join(t.TempDir(), "probe")
	for {
		put(t, probe)
		now, err := os.Stat(probe)
		if err != nil {
			t.Fatal(err)
		}
		if now.ModTime().After(old.ModTime()) {
			return now.ModTime()
		}
	}
}

func TestChanged(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old.go"))
	put(t, filepath.Join(dir, "old", "b.go"))
	put(t, filepath.Join(t.TempDir(), "x"))
	outside := filepath.Join(filepath.Dir(dir), "outside")
	put(t, filepath.Join(outside, "in", "moved.go"))
	since := later(t, filepath.Join(outside, "in", "moved.go"))
	put(t, filepath.Join(dir, "new.go"))
	put(t, filepath.Join(dir, "sub", "deep.go"))
	put(t, filepath.Join(dir, "node_modules", "x.js"))
	for _, name := range []string{"hooks/pre-commit", "info/attributes", "config", "config.worktree", "index", "objects/00/1", "refs/heads/main"} {
		put(t, filepath.Join(dir, ".git", name))
	}
	put(t, filepath.Join(dir, "old.go"))
	if err := os.Chtimes(filepath.Join(dir, "old.go"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(outside, filepath.Join(dir, "taken")); err != nil {
		t.Fatal(err)
	}
	found := changed(t, dir, since, func(c kernel.Altered) bool { return c.Whole })
	want := []string{".git/config", ".git/config.worktree", ".git/hooks/pre-commit", ".git/info/attributes", "new.go", "old.go", "sub/deep.go", "taken/in/moved.go"}
	for i, name := range want {
		want[i] = filepath.ToSlash(filepath.Join(dir, name))
	}
	if !found.Whole || !slices.Equal(found.Paths, want) {
		t.Errorf("%v %q\nwant %q", found.Whole, found.Paths, want)
	}
	for i := range workspace.MaxChanged {
		put(t, filepath.Join(dir, "many", strings.Repeat("x", i+1)))
	}
	full := func(c kernel.Altered) bool { return len(c.Paths) == workspace.MaxChanged }
	if found := changed(t, dir, since, full); found.Whole || !full(found) {
		t.Errorf("%d files, whole %v", len(found.Paths), found.Whole)
	}
	if found := changed(t, filepath.Join(dir, "many"), since, func(c kernel.Altered) bool { return c.Whole }); !found.Whole || !full(found) {
		t.Errorf("at the limit: %d files, whole %v", len(found.Paths), found.Whole)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if disk().Changed(ended, dir, since).Whole {
		t.Error("who had no time has seen everything")
	}
	if disk().Changed(t.Context(), filepath.Join(dir, "nowhere"), since).Whole {
		t.Error("a folder that is not there was looked at")
	}
}
