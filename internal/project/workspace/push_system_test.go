package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/project/workspace"
)

const remote = "[remote \"origin\"]\n\turl = https://git.example/a\n"

// pushFolder returns a checkout, and a function that sets the text of its settings.
func pushFolder(t *testing.T) (folder, func(text string)) {
	t.Helper()
	f := newFolder(t)
	f.git(owner, "init", "-q")
	return f, func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.path, ".git", "config"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A setting that decides where a push goes changes the digest. A new branch does not.
func whatSteersAPush(t *testing.T) {
	f, set := pushFolder(t)
	d := disk()
	if !d.Pushes(filepath.Dir(f.path), "").IsZero() {
		t.Error("a folder without git pushes somewhere")
	}
	set(remote)
	was := d.Pushes(f.path, "")
	if was.IsZero() || d.Pushes(filepath.Join(f.path, "deep", "file.go"), "") != was {
		t.Fatal("a checkout with a remote pushes nowhere")
	}
	for _, c := range []struct {
		text string
		same bool
	}{
		{remote, true},
		{remote + "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n\trebase = true\n\tdescription = x\n\n", true},
		{remote + "[Branch \"x\"]\n\tRemote = origin\n", true},
		{remote + "[branch \"x\"]\n\tremote = other\n", false},
		{remote + "[branch \"x\"]\n\tpushRemote = other\n", false},
		{remote + "[branch \"x\"]\n\tpushRemote = origin\n", false},
		{remote + "[push]\n\tdefault = current\n", false},
		{remote + "[other]\n\tmerge = x\n", false},
		{remote + "[other]\n\tremote = origin\n", false},
		{remote + "[branch \"x\"]\n\tmerge = a\n[remote]\n\tpushDefault = x\n", false},
		{remote + "[branch \"x\"]\n[url \"https://b.example/\"]\n\tinsteadOf = https://git.example/\n", false},
		{remote + "\tpushurl = https://b.example/a\n", false},
		{remote + "[include]\n\tpath = /tmp/x\n", false},
		{"[remote \"origin\"]\n\turl = https://git.example/b\n", false},
	} {
		set(c.text)
		if got := d.Pushes(f.path, ""); got.IsZero() || (got == was) != c.same {
			t.Errorf("%q: %v, want the same %v", c.text, got, c.same)
		}
	}
}

// A setting that only says which branch of a known remote a branch follows does not change the
// digest of Steers. Every other setting does.
func whatGitObeys(t *testing.T) {
	f, set := pushFolder(t)
	d := disk()
	if file, says := d.Steers(filepath.Dir(f.path)); file != "" || !says.IsZero() {
		t.Error("a folder without git has settings")
	}
	two := remote + "[remote \"upstream\"]\n\turl = https://git.example/b\n"
	set(two)
	file, was := d.Steers(filepath.Join(f.path, "deep"))
	if file != filepath.Join(f.path, ".git", "config") || was.IsZero() {
		t.Fatalf("%q %v", file, was)
	}
	for text, same := range map[string]bool{
		two + "[branch \"x\"]\n\tremote = upstream\n\tmerge = refs/heads/x\n":                                     true,
		two + "[branch \"x\"]\n\tremote = origin\n\trebase = true\n":                                              true,
		two + "[branch \"x\"]\n\tremote = nobody\n":                                                               false,
		two + "[branch \"x\"]\n\tremote = https://git.example/c\n":                                                false,
		two + "[branch \"x\"]\n\tremote = .\n":                                                                    false,
		two + "[branch \"x\"]\n\tpushRemote = upstream\n":                                                         false,
		two + "[branch \"x\"]\n\tmergeOptions = --strategy=x\n":                                                   false,
		two + "[branch \"x\"]\n\tremote = third\n[remote \"third\"]\n\turl=c\n":                                   false,
		two + "[core]\n\tfsmonitor = ./x\n":                                                                       false,
		two + "[alias]\n\tmerge = !sh\n":                                                                          false,
		two + "[branch \"x\"]\n\tmerge = a\\\n[core]\n\tfsmonitor = ./x\n":                                        false,
		two + "[branch \"x\"] remote = origin\n":                                                                  false,
		remote:                                                                                                    false,
		two + "\turl = https://git.example/d\n":                                                                   false,
		two + "\tuploadpack = ./x\n":                                                                              false,
		two + "[branch \"a]\"]\n\tmerge = x\n":                                                                    false,
		two + "[branch.x]\n\tremote = origin\n":                                                                   false,
		two + "[branch \"x\"]\n\tremote = origin ; x\n":                                                           false,
		two + "[branch \"x\"]\n\tremote\n":                                                                        false,
		two + "[branch \"main.pushremote\x00\"]\n\tmerge = https://evil.example/x\n":                              false,
		two + "[branch \"x\"]\n\tremote = ORIGIN\n":                                                               false,
		two + "[branch \"x\"]\n\tmerge = https://evil.example/x\n":                                                false,
		two + "[branch \"x\"]\n\tmerge = refs/pull/666/head\n":                                                    false,
		strings.Replace(two, "[remote \"upstream\"]", "[branch \"y\"]", 1):                                        false,
		strings.Replace(two, "\turl = https://git.example/b", "[branch \"y\"]\n\turl = https://git.example/b", 1): false,
		two + "[includeIf \"onbranch:x\"]\n\tpath = x\n":                                                          false,
	} {
		set(text)
		if _, says := d.Steers(f.path); (says == was) != same {
			t.Errorf("%q: the same %v, want %v", text, !same, same)
		}
	}
	whatElseGitObeys(t, f, set, two, file)
}

// whatElseGitObeys moves a setting from one branch to another, and gives the settings a second name.
func whatElseGitObeys(t *testing.T, f folder, set func(string), two, file string) {
	t.Helper()
	d := disk()
	forked := two + "[branch \"exp\"]\n\tpushRemote = upstream\n"
	set(forked)
	_, was := d.Steers(f.path)
	set(strings.Replace(forked, "exp", "main", 1))
	if _, says := d.Steers(f.path); says == was {
		t.Error("a setting of a branch became one of another, unseen")
	}
	// A settings file with a second hard link, or a symbolic link, could be written by others.
	set(two)
	beside := filepath.Join(f.path, "x")
	if err := os.Link(file, beside); err != nil {
		t.Fatal(err)
	}
	if _, says := d.Steers(f.path); !says.IsZero() {
		t.Error("a second name of the settings was not seen")
	}
	if err := errors.Join(os.Remove(file), os.Symlink(beside, file)); err != nil {
		t.Fatal(err)
	}
	if _, says := d.Steers(f.path); !says.IsZero() {
		t.Error("a link in place of the settings was not seen")
	}
}

// Settings that are not plain make the result unknown.
func settingsThatSayNothingAboutAPush(t *testing.T) {
	f, set := pushFolder(t)
	for _, text := range []string{
		"",
		"[core]\n\tbare = false\n",
		"[remote \"other\"]\n\turl = https://git.example/a\n",
		remote + "[push] default = current\n",
		remote + "[push]\n\tdefault = matching\n",
		remote + "[push]\n\tdefault = upstream\n",
		remote + "\tpush = +refs/heads/*:refs/heads/*\n",
		remote + "\tmirror = true\n",
		remote + "[branch \"x\"] remote = other\n",
		remote + "[branch \"x\"] pushRemote = other ;]\n",
		remote + "[branch \"x\"]\n\tmerge = a\\\n",
		remote + "[branch \"x\"]\n\tdescription = a\\\n\tpushRemote = b\n",
	} {
		set(text)
		if got := disk().Pushes(f.path, ""); !got.IsZero() {
			t.Errorf("%q: %v", text, got)
		}
	}
	if err := os.Remove(filepath.Join(f.path, ".git", "config")); err != nil {
		t.Fatal(err)
	}
	if got := disk().Pushes(f.path, ""); !got.IsZero() {
		t.Errorf("without settings: %v", got)
	}
}

// The settings of a single work tree are included.
func settingsOfAWorkTreeSteerAPush(t *testing.T) {
	f, set := pushFolder(t)
	set(remote)
	was := disk().Pushes(f.path, "")
	if err := os.WriteFile(filepath.Join(f.path, ".git", "config.worktree"), []byte("[push]\n\tdefault = current\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := disk().Pushes(f.path, ""); got.IsZero() || got == was {
		t.Error("they change nothing")
	}
}

// Included files and the owner's own settings are part of the digest.
func settingsElsewhereSteerAPush(t *testing.T) {
	f, set := pushFolder(t)
	home := t.TempDir()
	d := workspace.New(workspace.Options{Home: home})
	evil := "[url \"https://b.example/\"]\n\tinsteadOf = https://git.example/\n"
	for _, c := range []struct{ own, file, text string }{
		{"", filepath.Join(home, ".gitconfig"), evil},
		{"", filepath.Join(home, ".config", "git", "config"), evil},
		{"[include]\n\tpath = ../shared.txt\n", filepath.Join(f.path, "shared.txt"), evil},
		{"[includeIf \"onbranch:main\"]\n\tpath = ~/work\n", filepath.Join(home, "work"), evil},
		{"[include]\n\tpath = ../a.txt\n", filepath.Join(f.path, "b.txt"), evil},
	} {
		if err := os.WriteFile(filepath.Join(f.path, "a.txt"), []byte("[Include]\n\tPath = b.txt\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		set(remote + c.own)
		was := d.Pushes(f.path, "")
		if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.Pushes(f.path, ""); was.IsZero() || got.IsZero() || got == was {
			t.Errorf("%q, %s: %v then %v", c.own, c.file, was, got)
		}
	}
	for _, own := range []string{"[include]\n\tpath = \"a\\\"b\"\n", "[include]\n\tpath =\n", "[include]\n\tpath = ../loop.txt\n"} {
		if err := os.WriteFile(filepath.Join(f.path, "loop.txt"), []byte("[include]\n\tpath = loop.txt\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		set(remote + own)
		if got := d.Pushes(f.path, ""); !got.IsZero() {
			t.Errorf("%q: %v", own, got)
		}
	}
}

// Pushes of any branch but the checked-out one have no digest.
func onlyTheBranchThatIsCheckedOut(t *testing.T) {
	f, set := pushFolder(t)
	set(remote)
	if err := os.WriteFile(filepath.Join(f.path, ".git", "HEAD"), []byte("ref: refs/heads/feature/a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	was := disk().Pushes(f.path, "")
	for branch, want := range map[string]bool{"feature/a": true, "a": false, "main": false, "v1.0": false, "refs/heads/feature/a": false} {
		if got := disk().Pushes(f.path, branch); (got == was) != want || got.IsZero() == want {
			t.Errorf("%s: %v", branch, got)
		}
	}
}
