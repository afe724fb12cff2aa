package boxwrites

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// moved returns a project and the changes that a command made to it, which are not moved in yet.
func moved(t *testing.T) (*Writes, []Change) {
	t.Helper()
	root := t.TempDir()
	s := &Writes{Project: filepath.Join(root, "p"), Folder: filepath.Join(root, "box"), Undo: 1 << 20}
	put(t, root, map[string]string{
		"p/a": "old", "p/d/x": "old", "p/d/y": "old", "p/kept": "kept", "p/f": "file",
		"box/written/a": "new", "box/written/d/x": "new", "box/written/e/z": "new", "box/written/f/g": "new",
	})
	if err := os.Symlink("a", filepath.Join(s.upper(), "l")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Lsetxattr(filepath.Join(s.upper(), "d"), "user.overlay.opaque", []byte("y"), 0); err != nil {
		t.Skip("this file system keeps no attributes:", err)
	}
	list, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	return s, list
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		data, _ := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		all[rel] = d.Type().String() + string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// stopped calls do and stops it at a point, as a kill would. It reports whether that point was
// reached.
func stopped(at int, do func(at func(string))) (reached bool) {
	type killed struct{}
	defer func() {
		if _, is := recover().(killed); is {
			reached = true
		}
	}()
	n := 0
	do(func(string) {
		if n++; n == at {
			panic(killed{})
		}
	})
	return false
}

// Wherever a box is killed, in the end all of its changes are moved in, or none. Restoring what it
// replaced leaves the project as it was, however often that is killed.
func TestKilledWhileMovingIn(t *testing.T) {
	s, list := moved(t)
	was := tree(t, s.Project)
	if err := s.MoveIn(list); err != nil {
		t.Fatal(err)
	}
	want := tree(t, s.Project)
	if len(want) != 10 || want["d/x"] != "----------new" || want["d/y"] != "" {
		t.Fatalf("%q", want)
	}
	for _, elsewhere := range []bool{false, true} {
		for at := 1; ; at++ {
			s, list := moved(t)
			if elsewhere {
				apart(t, s)
			}
			if !stopped(at, func(note func(string)) { s.At = note; _ = s.MoveIn(list) }) {
				break
			}
			s.At = nil
			if err := s.Resume(); err != nil {
				t.Fatalf("killed at %d: %v", at, err)
			}
			got := tree(t, s.Project)
			if maps.Equal(got, was) && at == 1 {
				continue
			}
			if !maps.Equal(got, want) {
				t.Fatalf("killed at %d: %q, want %q", at, got, want)
			}
			if err := s.Resume(); err != nil || s.Pending() {
				t.Fatalf("killed at %d: once more: %v", at, err)
			}
			givenBack(t, s, at, was)
		}
	}
}

// givenBack restores what was replaced, and is killed on the way.
func givenBack(t *testing.T, s *Writes, at int, was map[string]string) {
	t.Helper()
	done, err := s.Swap().Done()
	if err != nil {
		t.Fatal(err)
	}
	back := *s.Swap()
	back.Name = "back"
	stopped(at, func(note func(string)) {
		back.At = note
		_ = back.Do(done.Reverse(swapName, func(string) bool { return true }))
	})
	back.At = nil
	if err := back.Resume(); err != nil {
		t.Fatalf("killed at %d: %v", at, err)
	}
	if got := tree(t, s.Project); at > 1 && !maps.Equal(got, was) {
		t.Fatalf("killed at %d: %q, want what was there: %q", at, got, was)
	}
}

// apart moves the folder of a box to another disk, if there is one.
func apart(t *testing.T, s *Writes) {
	t.Helper()
	other, err := os.MkdirTemp("/dev/shm", "box") //nolint:usetesting // another disk
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	if err := os.CopyFS(filepath.Join(other, "written"), os.DirFS(filepath.Join(s.Folder, "written"))); err != nil {
		t.Fatal(err)
	}
	s.Folder = other
}

// A step that fails leaves the project as it was.
func TestAllOrNothing(t *testing.T) {
	s, list := moved(t)
	was := tree(t, s.Project)
	list = append(list, Change{Path: "kept", Kind: Gone}, Change{Path: "late", Kind: Gone})
	s.At = func(point string) {
		if point == "planned" {
			put(t, s.Project, map[string]string{"e": "somebody else's"})
		}
	}
	was["e"] = "----------somebody else's"
	if err := s.MoveIn(list); err == nil || !strings.Contains(err.Error(), "e") {
		t.Errorf("a file that came meanwhile is written over: %v", err)
	}
	if got := tree(t, s.Project); !maps.Equal(got, was) {
		t.Errorf("%q, want %q", got, was)
	}
	if s.Pending() {
		t.Error("something is left to be done")
	}
}

// A file that was changed in the project while the command ran is not replaced.
func TestOvertaken(t *testing.T) {
	s, _ := moved(t)
	if err := s.Begin(); err != nil {
		t.Fatal(err)
	}
	for changedAt(s.Project).Compare(changedAt(s.began())) <= 0 {
		put(t, s.Project, map[string]string{"tick": "x"})
		_ = os.Remove(filepath.Join(s.Project, "tick")) // until the clock of the disk advances
	}
	put(t, s.Project, map[string]string{"a": "edited", "d/y": "edited", "e/z": "new"})
	list, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if want := c.Path == "a" || c.Path == "d"; (c.Refused != "") != want {
			t.Errorf("%s: %q", c.Path, c.Refused)
		}
	}
}

// If a folder became a link after it was checked, the link is not followed and nothing is moved in.
func TestAFolderBecomesALinkWhileMovingIn(t *testing.T) {
	s, _ := moved(t)
	put(t, s.Folder, map[string]string{"written/kept.d/x": "new", "written/kept.d/hooks/y": "new", "written/z": "new"})
	put(t, s.Project, map[string]string{"kept.d/old": "old", "elsewhere/x": "old"})
	list, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.Project, "kept.d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(s.Project, "kept.d")); err != nil {
		t.Fatal(err)
	}
	if err := s.MoveIn(list); err == nil {
		t.Error("nobody is told that a file was not moved in")
	}
	got := tree(t, s.Project)
	if got["elsewhere/x"] != "----------old" || got["elsewhere/hooks"] != "" || got["z"] != "" {
		t.Errorf("%q", got)
	}
	if err := s.Resume(); err != nil {
		t.Errorf("the next box is refused for what failed: %v", err)
	}
	link := s.Project + "-link"
	if err := os.Symlink(s.Project, link); err != nil {
		t.Fatal(err)
	}
	s.Project = link
	if err := s.MoveIn(list); err == nil {
		t.Error("a project that became a link is moved into")
	}
}

// A folder that its owner may not write to is moved in with its content.
func TestAReadOnlyFolder(t *testing.T) {
	s, _ := moved(t)
	put(t, s.Folder, map[string]string{"written/m/f": "new"})
	if err := os.Chmod(filepath.Join(s.upper(), "m"), 0o555); err != nil {
		t.Fatal(err)
	}
	list, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.MoveIn(list); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(s.Project, "m"))
	if err != nil || info.Mode().Perm() != 0o555 || tree(t, s.Project)["m/f"] == "" {
		t.Errorf("%v %v", info, err)
	}
	for _, at := range []string{s.Project, s.upper()} {
		_ = os.Chmod(filepath.Join(at, "m"), 0o755) // so that it can be removed
	}
}

// put writes files below a folder.
func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for p, text := range files {
		at := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A box whose command wrote too much keeps nothing.
func TestTooMuchIsWritten(t *testing.T) {
	s, _ := moved(t)
	s.Disk = 10
	if _, err := s.Changes(); err == nil {
		t.Error("more is moved in than the box may write")
	}
}

// Files whose names do not fit into the plan, that git would follow, or that git would run, are not
// moved in.
func TestNotMovedIn(t *testing.T) {
	root := t.TempDir()
	s := &Writes{Project: filepath.Join(root, "p"), Folder: filepath.Join(root, "box")}
	put(t, root, map[string]string{
		"p/a": "old", "box/written/x\xff": "new", "box/written/y\xff/z": "new", "box/written/b": "new",
		"box/written/.git/rebase-merge/git-rebase-todo": "pick 1\n exec\ttouch x\n", "box/written/.git/COMMIT_EDITMSG": "x",
	})
	if err := os.Symlink("../a", filepath.Join(s.upper(), ".git/HEAD")); err != nil {
		t.Fatal(err)
	}
	list, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if (c.Kind != Folder || c.Path == "y\xff") && (c.Refused == "") != (c.Path == "b") {
			t.Errorf("%q: %q", c.Path, c.Refused)
		}
	}
	if err := s.MoveIn(list); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, s.Project); len(got["b"]) == 0 || got["x\ufffd"] != "" || got[".git/HEAD"] != "" {
		t.Errorf("%q", got)
	}
}

// A link is followed through the new and the old files.
func TestLinks(t *testing.T) {
	root := t.TempDir()
	s := &Writes{Project: filepath.Join(root, "p"), Folder: filepath.Join(root, "box"), Keep: Keep{Guarded: []string{"**/AGENTS.md"}}}
	put(t, root, map[string]string{"p/a/b/x": "", "p/AGENTS.md": "", "p/top/x": "", "box/written/new/x": ""})
	for at, to := range map[string]string{
		"p/out": "..", "p/alias": "a", "p/loop": "loop", "p/lib.so": "lib.so.1", "p/lib.so.1": "a/b/x",
		"box/written/a": "top", "box/written/deep": "new/../..",
	} {
		if err := os.Symlink(to, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	for link, inside := range map[string]bool{
		"l a": true, "l lib.so": true, "l alias/b/x": true, "new/l ../a/b": true, "new/l ./x": true, "l missing": true,
		"l /usr/bin/python3": true, "l " + s.Project + "/a/b": true,
		"l ..": false, "l .": false, "l out/x": false, "l loop": false, "l deep": false, "l AGENTS.md": false, "l .git/hooks": false, "l .git": false,
		"l a/../b": false, "l missing/../a": false, "new/l ../..": false, "l /etc/passwd": false, "l /usr/bin/../../etc": false,
		"l " + s.Project: false, "l " + s.Project + "/../x": false, "l " + s.Project + "x": false,
	} {
		at, to, _ := strings.Cut(link, " ")
		if why := s.refusesLink(at, to); (why == "") != inside {
			t.Errorf("%s: %q", link, why)
		}
	}
}

// A file that the owner's settings name is protected, wherever it is.
func TestNamed(t *testing.T) {
	root := t.TempDir()
	w := &Writes{Project: filepath.Join(root, "p"), Folder: filepath.Join(root, "box"), Home: root, Keep: Keep{Guarded: []string{"**/CLAUDE.md"}}}
	put(t, root, map[string]string{
		".gitconfig":    "[user]\n\tname = author\n[filter \"x\"]\n\tclean = python3 tools/clean.py %f\n",
		"p/.git/config": "[core]\n\thooksPath = ci-hooks ; x\n\tfsmonitor = \"scripts/monitor.sh\"\n[include]\n\tpath = ../gitsettings\n[branch \"main\"]\n\tmerge = main\n[alias]\n\tx = !typed.sh\n",
		"p/gitsettings": "[core]\n\tpager = scripts/pager.sh\n[diff] external = scripts/diff.sh\n", "p/docs/rules.txt": "", "p/scripts/check.sh": "",
		"p/.mcp.json": `{"mcpServers":{"x":{"command":"node","args":["${workspaceFolder}/tools/server.js"]}}}`, "p/.claude/settings.json": `{"hooks":"$CLAUDE_PROJECT_DIR/lint.sh"}`,
		"p/sub/.git/config": "[core]\n\thooksPath = hooks\n",
	})
	for at, to := range map[string]string{"CLAUDE.md": "docs/middle", "docs/middle": "rules.txt", ".git/hooks": "../scripts", "plain": "docs"} {
		if err := os.Symlink(to, filepath.Join(w.Project, at)); err != nil {
			t.Fatal(err)
		}
	}
	n := w.named()
	for p, want := range map[string]bool{
		"ci-hooks/pre-commit": true, "ci-hooks/deep/x": true, "scripts/monitor.sh": true, "scripts/pager.sh": true, "scripts/diff.sh": true, "gitsettings": true,
		"tools/clean.py": true, "docs/rules.txt": true, "docs/middle": true, "scripts/check.sh": true, "tools/server.js": true, "lint.sh": true, "sub/hooks/pre-push": true,
		"author": false, "main": false, "typed.sh": false, "docs/a.md": false, "tools/x.py": false, "hooks/pre-push": false, "src/main.go": false,
	} {
		if n.refuses(&Change{Path: p, Kind: File}) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	for p, want := range map[string]bool{"tools": true, "docs": true, "sub": true, "src": false} {
		if n.refuses(&Change{Path: p, Kind: Link}) != want || n.refuses(&Change{Path: p, Kind: Folder}) {
			t.Errorf("%s as a link: %v", p, !want)
		}
	}
}

// A file that is started or loaded by its name alone is not moved in.
func TestStartedByName(t *testing.T) {
	root := t.TempDir()
	s := &Writes{Project: filepath.Join(root, "p"), Folder: filepath.Join(root, "box")}
	s.Starts, s.Loads = []string{filepath.Join(root, "p/tools/bin"), "/usr/bin"}, []string{filepath.Join(root, "p/env")}
	put(t, root, map[string]string{
		"p/a": "", "box/written/tools/bin/cat": "", "box/written/tools/bin/sub/x": "", "box/written/tools/x": "",
		"box/written/env/lib/a.py": "", "box/written/envy/a": "",
	})
	list, err := s.Changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if want := c.Path == "tools/bin/cat" || c.Path == "env/lib" || c.Path == "env/lib/a.py"; (c.Refused != "") != want {
			t.Errorf("%s: %q", c.Path, c.Refused)
		}
	}
	link := &Change{Path: "tools", Kind: Link}
	if !s.started(link) || s.started(&Change{Path: "tools", Kind: Folder}) {
		t.Error("a link to elsewhere takes the place of a folder that programs are started from")
	}
}
