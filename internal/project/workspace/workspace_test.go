package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/kernel/artifact"
)

const owner, stranger = "anna@firm.example", "eve@news.example"

func disk() *workspace.Disk { return workspace.New(workspace.Options{Identities: []string{owner}}) }

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

// changed repeats the search until enough was found, because on a busy machine the time limit may
// be reached first.
func changed(t *testing.T, dir string, since time.Time, enough func(artifact.Altered) bool) (found artifact.Altered) {
	t.Helper()
	for range 20 {
		if found = disk().Changed(t.Context(), dir, since); enough(found) {
			break
		}
	}
	return found
}

// later writes a file until the file system gives it a newer time than another one, and returns
// that time, which may be coarse.
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
	put(t, filepath.Join(dir, "target", "debug", "kept"))
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
	found := changed(t, dir, since, func(c artifact.Altered) bool { return c.Whole })
	want := []string{".git/refs", ".git/config", ".git/config.worktree", ".git/hooks/pre-commit", ".git/info/attributes", "new.go", "old.go", "sub/deep.go", "taken/in/moved.go", "node_modules/**"}
	for i, name := range want {
		want[i] = filepath.ToSlash(filepath.Join(dir, name))
	}
	if !found.Whole || !slices.Equal(found.Paths, want) {
		t.Errorf("%v %q\nwant %q", found.Whole, found.Paths, want)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	for i := range workspace.MaxChanged {
		put(t, filepath.Join(dir, "many", strings.Repeat("x", i+1)))
	}
	full := func(c artifact.Altered) bool { return len(c.Paths) == workspace.MaxChanged }
	if found := changed(t, dir, since, full); found.Whole || !full(found) {
		t.Errorf("%d files, whole %v", len(found.Paths), found.Whole)
	}
	if found := changed(t, filepath.Join(dir, "many"), since, func(c artifact.Altered) bool { return c.Whole }); !found.Whole || !full(found) {
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

// A changed reference is reported, even in a checkout below the folder or around it. Files that git
// writes in every operation are not.
func TestChangedNames(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{
		"HEAD": true, "refs/heads/main": true, "refs/heads/new": true, "refs/stash": true, "packed-refs": true, "MERGE_MSG": true, "rebase-merge/done": true,
		"index": false, "FETCH_HEAD": false, "refs/remotes/origin/main": false, "logs/HEAD": false, "objects/00/1": false, "COMMIT_EDITMSG": false,
	} {
		dir := t.TempDir()
		for _, old := range []string{".git/HEAD", ".git/refs/heads/main", ".git/logs/x", ".git/objects/00/0", "sub/a"} {
			put(t, filepath.Join(dir, old))
		}
		for _, look := range []string{dir, filepath.Dir(dir), filepath.Join(dir, "sub")} {
			since := later(t, filepath.Join(dir, "sub", "a"))
			put(t, filepath.Join(dir, ".git", filepath.FromSlash(name)))
			want := filepath.ToSlash(dir) + catalog.NamesOf
			if strings.HasSuffix(look, "sub") {
				want = filepath.ToSlash(look) + catalog.NamesOf
			}
			found := changed(t, look, since, func(c artifact.Altered) bool { return c.Whole })
			if slices.Contains(found.Paths, want) != named {
				t.Errorf("%s, seen from %s: %q", name, look, found.Paths)
			}
		}
	}
}

// The path of an artifact is in lower case, so a file with any spelling of it exists.
func TestMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "Lib", "README.md"))
	put(t, filepath.Join(dir, "lib", "x.py"))
	for name, missing := range map[string]bool{
		"Lib/README.md": false, "lib/x.py": false, "lib/README.md": false, "Lib": false,
		"lib/gone.py": true, "gone": true, "gone/deep/x": true, "lib/x.py/y": true,
	} {
		if got := disk().Missing(catalog.FoldPath(filepath.Join(dir, name))); got != missing {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, name := range []string{"", "/", "lib/gone.py", "c:/gone"} {
		if disk().Missing(name) {
			t.Errorf("%q: nobody can tell", name)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	small, large := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(small, "x")
	write(large, strings.Repeat("x", 2<<20))
	d := disk()
	first, big := d.Content(small), d.Content(large)
	if first.IsZero() || big.IsZero() || first != d.Content(small) || big != d.Content(large) {
		t.Error("a file has no digest, or another one each time")
	}
	write(small, "y")
	write(large, strings.Repeat("x", 2<<20+1))
	if first == d.Content(small) || big == d.Content(large) {
		t.Error("a changed file has the same digest")
	}
	if !d.Content(filepath.Dir(small)).IsZero() || !d.Content(small+"-none").IsZero() {
		t.Error("what is no file has a digest")
	}
}

// A working tree shares git's files with others only if these files list it, because a file called
// .git can be forged.
func shared(t *testing.T, dir string) {
	t.Helper()
	write := func(file, text string) {
		put(t, dir+file)
		if err := os.WriteFile(dir+file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir+"/main/.git/objects/x")
	want := func(why, tree, common string) {
		t.Helper()
		if common != "" {
			common = dir + common
		}
		if got := workspace.Shared(dir + tree); got != common {
			t.Errorf("%s: %q, want %q", why, got, common)
		}
	}
	back := "/main/.git/worktrees/w/gitdir"
	want("nothing names it", "/tree", "")
	write(back, dir+"/elsewhere/.git\n")
	want("another one is named", "/tree", "")
	write(back, dir+"/tree/.git\n")
	want("it is named", "/tree", "/main/.git")
	want("a folder of its own", "/main", "")
	want("none", "/none", "")
	write("/main/.git/worktrees/w/commondir", dir+"/main\n")
	want("it is shared from another folder", "/tree", "")
	write("/main/.git/worktrees/w/commondir", "../..\n")
	if err := os.Symlink(dir+"/main", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	write("/tree/.git", "gitdir: "+dir+"/link/.git/worktrees/w\n")
	want("it is reached by a link", "/tree", "")
	write("/tree/.git", "gitdir: "+dir+"/main/.git/worktrees/w\n")
	want("it is named again", "/tree", "/main/.git")
	// A list inside the working tree proves nothing.
	write("/tree/own/worktrees/w/gitdir", dir+"/tree/.git\n")
	write("/tree/own/worktrees/w/commondir", "../..\n")
	put(t, dir+"/tree/own/objects/x")
	write("/tree/.git", "gitdir: "+dir+"/tree/own/worktrees/w\n")
	want("it lies in the working tree", "/tree", "")
}

// Git takes the nearest folder with its files, under any name, and follows a file called «.git».
func TestRepository(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		"/main/.git/HEAD", "/main/.git/config", "/main/src/a", "/main/.git/worktrees/w/HEAD",
		"/main/fixtures/bare/HEAD", "/main/fixtures/bare/config", "/main/fixtures/bare/objects/x",
		"/main/empty/.git/x", "/main/empty/HEAD",
	} {
		put(t, dir+file)
	}
	for file, text := range map[string]string{
		"/main/.git/worktrees/w/commondir": "../..\n",
		"/tree/.git":                       "gitdir: " + dir + "/main/.git/worktrees/w\n",
		"/main/forged/.git":                "gitdir: ../.git/../fixtures/bare\n",
		"/main/lost/.git":                  "gitdir: nowhere\n",
	} {
		put(t, dir+file)
		if err := os.WriteFile(dir+file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][2]string{
		"/main":                    {"/main/.git", "/main/.git"},
		"/main/src/none":           {"/main/.git", "/main/.git"},
		"/main/fixtures":           {"/main/.git", "/main/.git"},
		"/main/fixtures/bare":      {"/main/fixtures/bare", "/main/fixtures/bare"},
		"/main/fixtures/bare/refs": {"/main/fixtures/bare", "/main/fixtures/bare"},
		"/main/empty":              {"/main/empty", "/main/empty"},
		"/main/forged":             {"/main/fixtures/bare", "/main/fixtures/bare"},
		"/main/lost":               {"/main/.git", "/main/.git"},
		"/main/.git":               {"/main/.git", "/main/.git"},
		"/tree":                    {"/main/.git/worktrees/w", "/main/.git"},
		"/tree/deep":               {"/main/.git/worktrees/w", "/main/.git"},
	} {
		at, common := disk().Repository(dir + path)
		if at != dir+want[0] || common != dir+want[1] {
			t.Errorf("%s: %s, shared %s", path, strings.TrimPrefix(at, dir), strings.TrimPrefix(common, dir))
		}
	}
	shared(t, dir)
	nested, all := disk().Nested(dir + "/main")
	if want := []string{dir + "/main/empty", dir + "/main/forged", dir + "/main/lost"}; !all || !slices.Equal(nested, want) {
		t.Errorf("nested: %q, all %v", nested, all)
	}
	if _, all := disk().Nested(dir + "/none"); all {
		t.Error("a folder that is not there was looked at")
	}
	if at, common := disk().Repository(dir + "/other"); at != "" || common != "" {
		t.Errorf("no repository: %s, %s", at, common)
	}
}

// Git runs hooks that exist and are executable, in the folder its settings name, and programs of
// the tree that its settings name.
func TestStarts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, settings := range map[string]string{
		"plain": "", "husky": "[core]\n\thooksPath = .husky/_\n", "elsewhere": "[core]\n\thooksPath = " + dir + "/shared\n",
		"filter": "[filter \"x\"]\n\tclean = scripts/clean.sh %f\n", "lfs": "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n",
	} {
		write(name+"/.git/HEAD", "ref: refs/heads/main\n", 0o600)
		write(name+"/.git/config", settings, 0o600)
		write(name+"/.git/hooks/pre-push.sample", "", 0o700)
		write(name+"/.git/hooks/commit-msg", "", 0o600) // git runs no such file
		write(name+"/scripts/clean.sh", "", 0o700)
		write(name+"/src/a", "", 0o600)
	}
	write("plain/.git/hooks/pre-commit", "", 0o700)
	write("shared/post-merge", "", 0o700)
	all := []string{"/x/.git/hooks/**"}
	for _, c := range []struct {
		at    string
		known []string
		want  string
	}{
		{"plain", all, "plain/.git/hooks/pre-commit"},
		{"plain/src", all, "plain/.git/hooks/pre-commit"},
		{"plain", []string{"/x/.git/hooks/pre-commit/**"}, "plain/.git/hooks/pre-commit"},
		{"plain", []string{"/x/.git/hooks/pre-push/**", "/x/.gitmodules/**"}, ""},
		{"plain", nil, ""},
		{"husky", []string{"/x/.git/hooks/pre-push/**"}, "husky/.husky/_/*"},
		{"husky", nil, ""},
		{"elsewhere", all, "shared/post-merge"},
		{"filter", nil, "filter/scripts/clean.sh"},
		{"lfs", all, ""},
		{"shared", all, ""},
	} {
		got := slices.Compact(disk().Starts(filepath.Join(dir, c.at), c.known))
		if text := strings.ReplaceAll(strings.Join(got, " "), filepath.ToSlash(dir)+"/", ""); text != c.want {
			t.Errorf("%s, %v: %q, not %q", c.at, c.known, text, c.want)
		}
	}
	write("plain/.git/hooks/post-index-change", "", 0o700)
	write("husky/.husky/_/post-index-change", "", 0o700)
	for _, at := range []string{"plain", "husky"} {
		if got := disk().Starts(filepath.Join(dir, at), nil); len(got) != 1 {
			t.Errorf("%s: a hook that every command may run: %q", at, got)
		}
	}
}
