package teams

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"https://git.example/team/app.git", "ssh://git@git.example/app", "git@git.example:team/app", "/srv/git/app", "file:///srv/app"} {
		if !plain(good) {
			t.Errorf("%s is refused", good)
		}
	}
	for _, bad := range []string{
		"", "app", "../app", "ext::sh -c evil", "ext::sh", "--upload-pack=evil", "https://user:secret@git.example/app", "ssh://-oProxyCommand=evil/app",
		"git@git.example:", "https://git.example/\x1b[2J", "https://git.example/ä", "fd::17", strings.Repeat("/a", 600), "a b:c",
	} {
		if plain(bad) {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestCommits(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf("%040x", i*7919%1000))
	}
	c := newCommits(list)
	for _, id := range list {
		if !c.has(id) {
			t.Errorf("%s is missing", id)
		}
	}
	for _, id := range []string{"", fmt.Sprintf("%040x", 1001), strings.Repeat("0", 39), strings.Repeat("f", 64), list[0] + "\n"} {
		if c.has(id) {
			t.Errorf("%q is there", id)
		}
	}
}

// An entry that another program wrote into the folder is not accepted.
func TestEntriesThatAreNot(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a", 40)
	good := `{"path":"/src/app","address":"/srv/app","first":"` + id + `","tip":"` + id + `"}`
	for name, text := range map[string]string{
		"no JSON": "team", "empty": "{}", "long": good + strings.Repeat(" ", maxEntry),
		"no folder": strings.Replace(good, "/src/app", "app", 1), "another way": strings.Replace(good, "/srv/app", "ext::sh", 1),
		"no commit": strings.Replace(good, id, "HEAD", 1), "another's": strings.Replace(good, "/src/app", "/src/other", 1),
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, folderOf("/src/app"))
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "team.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, dir, nil)
		if err == nil || len(s.List()) > 0 {
			t.Errorf("%s: %v, %v", name, s.List(), err)
		}
	}
}

// A project's program with the name of a program of the machine is not run.
func TestProgramsOfTheMachineComeFirst(t *testing.T) {
	env := git{home: "/home/ada"}.environment([]string{"PATH=/p/.venv/bin:.:bin:/nix/bin", "GIT_DIR=/p", "X=1"})
	want := "PATH=" + strings.Join(boxgit.Folders(), ":") + ":/p/.venv/bin:/nix/bin"
	if !slices.Contains(env, want) || !slices.Contains(env, "X=1") || slices.Contains(env, "GIT_DIR=/p") {
		t.Errorf("%q, want %s", env, want)
	}
}
