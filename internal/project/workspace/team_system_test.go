package workspace_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/project/teams"
	"github.com/floodmark/floodmark/internal/project/workspace"
)

// A team is a clone of a repository that the owner has declared to be the team's.
type team struct {
	t           *testing.T
	from, clone folder
	store       *teams.Store
	disk        *workspace.Disk
	now         time.Time
}

func newTeam(t *testing.T) *team {
	t.Helper()
	w := &team{t: t, from: newFolder(t), clone: newFolder(t), now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	w.from.git(stranger, "init", "-q", "-b", "main")
	w.from.commit(stranger, "a colleague's")
	w.clone.git(owner, "clone", "-q", w.from.path, w.clone.path)
	w.open(t.TempDir())
	w.want(false)
	if _, err := w.store.Add(t.Context(), w.clone.path, w.from.path); err != nil {
		t.Fatal(err)
	}
	w.want(true)
	return w
}

func (w *team) open(dir string) {
	w.t.Helper()
	var err error
	if w.store, err = teams.Open(dir, w.t.TempDir(), func() time.Time { return w.now }); err != nil {
		w.t.Fatal(err)
	}
	w.disk = workspace.New(workspace.Options{Identities: []string{owner}, Teams: w.store})
}

func (w *team) want(team bool) {
	w.t.Helper()
	if c, ok := w.disk.Around(w.clone.path); !ok || c.Own || c.Team != team {
		w.t.Errorf("%+v, want the team's: %v", c, team)
	}
}

// look fetches as the monitor does for a checkout at an unknown commit.
func (w *team) look() error {
	w.now = w.now.Add(teams.Pause)
	root, behind := w.disk.Behind(filepath.Join(w.clone.path, "deep"))
	if !behind {
		w.t.Error("nothing new is here")
	}
	return w.store.Refresh(w.t.Context(), root)
}

// A later pull is the team's, and so is what the owner adds to it.
func aTeamsRepositoryTomorrow(t *testing.T) {
	w := newTeam(t)
	w.clone.commit(owner, "mine")
	w.clone.git(owner, "commit", "-q", "--amend", "-m", "mine, in other words")
	w.want(true)
	w.from.git(stranger, "commit", "-q", "--allow-empty", "-m", "next day")
	w.clone.git(owner, "pull", "-q", "--no-rebase", "--no-edit")
	w.want(false) // the remote was not checked yet
	if err := w.look(); err != nil {
		t.Fatal(err)
	}
	w.want(true)
	if err := w.store.End(w.clone.path); err != nil {
		t.Fatal(err)
	}
	w.want(false)
}

// branches returns ways to get commits that are not on the default branch.
func branches() map[string]func(w *team) {
	return map[string]func(w *team){
		"a branch of a stranger in the owner's name": func(w *team) {
			w.from.git(owner, "checkout", "-q", "-b", "pull-5")
			w.from.commit(owner, "evil")
			w.from.git(owner, "checkout", "-q", "main")
			w.clone.git(owner, "fetch", "-q", "origin", "pull-5")
			w.clone.git(owner, "checkout", "-q", "FETCH_HEAD")
		},
		"a branch that was merged here": func(w *team) {
			w.from.git(stranger, "checkout", "-q", "-b", "pull-5")
			w.from.commit(owner, "evil")
			w.from.git(stranger, "checkout", "-q", "main")
			w.clone.git(owner, "commit", "-q", "--allow-empty", "-m", "mine")
			w.clone.git(owner, "fetch", "-q", "origin", "pull-5")
			w.clone.git(owner, "merge", "-q", "--no-edit", "FETCH_HEAD")
		},
		"a commit that was picked": func(w *team) {
			w.from.git(owner, "checkout", "-q", "-b", "pull-5")
			w.from.commit(owner, "evil")
			w.from.git(owner, "checkout", "-q", "main")
			w.clone.git(owner, "commit", "-q", "--allow-empty", "-m", "mine")
			w.clone.git(owner, "fetch", "-q", "origin", "pull-5")
			w.clone.git(owner, "cherry-pick", "FETCH_HEAD")
		},
		"a commit that was amended": func(w *team) {
			w.from.git(owner, "checkout", "-q", "-b", "pull-5")
			w.from.commit(owner, "evil")
			w.from.git(owner, "checkout", "-q", "main")
			w.clone.git(owner, "fetch", "-q", "origin", "pull-5")
			w.clone.git(owner, "checkout", "-q", "FETCH_HEAD")
			w.clone.git(owner, "commit", "-q", "--amend", "-m", "mine")
		},
		"a commit that was merged under a name like git's own words": func(w *team) {
			w.from.git(owner, "checkout", "-q", "-b", "pull-5")
			w.from.git(owner, "commit", "-q", "--allow-empty", "-m", "x: Merge made by the 'ort' strategy.")
			w.from.git(owner, "checkout", "-q", "main")
			w.clone.git(owner, "fetch", "-q", "origin", "pull-5")
			w.clone.git(owner, "merge", "-q", "FETCH_HEAD^{/x: Merge made by }")
		},
		"a commit that a box says was made here": func(w *team) {
			id := w.clone.git(owner, "commit-tree", "-m", "evil", "-p", "HEAD", "HEAD^{tree}")
			w.clone.git(owner, "update-ref", "-m", "in a box: commit: x", "HEAD", id)
		},
		"a remote branch that was moved": func(w *team) {
			id := w.clone.git(owner, "commit-tree", "-m", "evil", "-p", "HEAD", "HEAD^{tree}")
			w.clone.git(owner, "update-ref", "refs/remotes/origin/main", id)
			w.clone.git(owner, "pack-refs", "--all")
			w.clone.git(owner, "checkout", "-q", "-B", "main", "origin/main")
		},
	}
}

// places returns ways to get commits from another place.
func places() map[string]func(w *team) {
	return map[string]func(w *team){
		"another address": func(w *team) {
			other := newFolder(w.t)
			other.git(stranger, "clone", "-q", w.from.path, other.path)
			other.commit(stranger, "evil")
			w.clone.git(owner, "remote", "set-url", "origin", other.path)
			w.clone.git(owner, "fetch", "-q")
			w.clone.git(owner, "reset", "-q", "--hard", "origin/main")
		},
		"objects of another place": func(w *team) {
			other := newFolder(w.t)
			other.git(stranger, "clone", "-q", w.from.path, other.path)
			id := other.commit(owner, "evil")
			w.write(".git/objects/info/alternates", other.path+"/.git/objects\n")
			w.clone.git(owner, "reset", "-q", "--hard", id)
		},
		"a commit that stands for another": func(w *team) {
			good := w.clone.git(owner, "rev-parse", "HEAD")
			w.from.git(stranger, "checkout", "-q", "-b", "pull-5")
			w.from.commit(stranger, "evil")
			w.from.git(stranger, "checkout", "-q", "main")
			w.clone.git(owner, "fetch", "-q", "origin", "pull-5")
			w.clone.git(owner, "checkout", "-q", "FETCH_HEAD")
			w.clone.git(owner, "replace", "HEAD", good)
		},
		"a history that begins otherwise": func(w *team) {
			w.from.git(stranger, "checkout", "-q", "--orphan", "new")
			w.from.commit(stranger, "evil")
			w.from.git(stranger, "branch", "-q", "-M", "new", "main")
			w.clone.git(owner, "fetch", "-q")
			w.clone.git(owner, "reset", "-q", "--hard", "origin/main")
		},
		"a copy of the checkout": func(w *team) {
			other := newFolder(w.t)
			other.git(owner, "clone", "-q", w.from.path, other.path)
			w.clone = other
		},
	}
}

// A commit that is on no default branch fetched from the address remains a stranger's.
func whatIsNotTheTeams(t *testing.T) {
	all := branches()
	maps.Copy(all, places())
	for name, forge := range all {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t)
			forge(w)
			w.want(false)
			if _, behind := w.disk.Behind(w.clone.path); behind {
				_ = w.look() // a fetch does not change the result
			}
			w.want(false)
		})
	}
}

func (w *team) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.clone.path, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// A tampered or truncated store raises no trust.
func aTornStore(t *testing.T) {
	w := newTeam(t)
	dir := t.TempDir()
	w.open(dir)
	if _, err := w.store.Add(t.Context(), w.clone.path, w.from.path); err != nil {
		t.Fatal(err)
	}
	w.open(dir)
	w.want(true)
	found, err := filepath.Glob(filepath.Join(dir, "*", "commits"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	evil := w.clone.git(stranger, "commit-tree", "-m", "evil", "HEAD^{tree}")
	w.clone.git(owner, "reset", "-q", "--hard", evil)
	for _, text := range []string{"", evil + "\n", strings.Repeat("0", 40)} {
		if err := os.WriteFile(found[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.open(dir)
		w.want(false)
	}
}
