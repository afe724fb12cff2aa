package gitwords_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/gitwords"
)

func words(t *testing.T, line string) gitwords.Revisions {
	t.Helper()
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := hook.Call{Args: data}.Leaves()
	if err != nil {
		t.Fatal(err)
	}
	return c.Classify(floodmark.ToolRef{Agent: "claude-code", Name: "Bash"}, leaves, nil, catalog.Places{Project: "/p", Home: "/home/u"}).Revisions
}

// The word for a revision is found, however it is given to git.
func TestEachWordIsFound(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"git checkout origin/pr -- .":                          "origin/pr",
		"git diff main origin/pr | git apply":                  "origin/pr",
		"git show origin/pr:x.py > x.py":                       "origin/pr:x.py",
		"git --no-pager -C sub log -p main..origin/pr":         "main..origin/pr",
		"git archive origin/pr | tar x":                        "origin/pr",
		"git cat-file -p origin/pr:x.py":                       "origin/pr:x.py",
		"git merge-tree main origin/pr":                        "origin/pr",
		"git read-tree -u --reset origin/pr":                   "origin/pr",
		"git restore --source=origin/pr .":                     "origin/pr",
		"git restore --source origin/pr .":                     "origin/pr",
		"git commit -C origin/pr":                              "origin/pr",
		"git commit -Corigin/pr":                               "origin/pr",
		"git stash pop":                                        "stash",
		"git stash apply origin/pr":                            "origin/pr",
		"/usr/bin/git show origin/pr":                          "origin/pr",
		"git show $(git rev-parse origin/pr)":                  "origin/pr",
		"git diff $(git merge-base main HEAD)..origin/pr":      "..origin/pr",
		"git checkout - -- .":                                  "@{-1}",
		"git checkout - a.txt":                                 "@{-1}",
		"git merge --squash -":                                 "@{-1}",
		"git cherry-pick -":                                    "@{-1}",
		"git merge --squash":                                   "@{u}",
		"git show v1":                                          "v1^{tag}",
		"git cat-file -p v1":                                   "v1^{tag}",
		"git show origin/$X":                                   "*",
		"git show $X":                                          "*",
		"cat f | xargs git show":                               "*",
		"git log --all -p":                                     "*",
		"git log --remotes":                                    "*",
		"git rev-list --all | head -1":                         "*",
		"git branch -av":                                       "*",
		"git tag -n":                                           "*",
		"git for-each-ref --format='%(contents)'":              "*",
		"git branch -r --format='%(refname)' | xargs git show": "*",
		`python3 -c "import subprocess; subprocess.run(['git','checkout','origin/pr','--','.'])"`: "origin/pr",
		"git log " + strings.Repeat("x ", 40) + "origin/pr":                                       "*",
	} {
		if got := words(t, line); !slices.Contains(got.Words, want) || got.Moves && strings.Contains(line, "-- .") {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

// A word that names no revision is not found.
func TestNoOtherWord(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"git status", "git add --all", "git add -A && git commit -q -m 'origin/pr'", "git commit --all --message=origin/pr", "git branch -a", "git branch --show-current",
		"git diff", "git log --oneline -5", "git stash", "git fetch --all", "ls origin/pr", "git checkout -", "git switch -", "git merge --abort", "git commit -F -", "git diff $(git merge-base HEAD HEAD)",
	} {
		if got := words(t, line); slices.ContainsFunc(got.Words, func(w string) bool { return w != "HEAD" && w != "5" && w != "push" }) {
			t.Errorf("%s: %q", line, got.Words)
		}
	}
}

// Files need no word only if they are part of the checked out commit afterwards.
func TestWhatMoves(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"git checkout x": true, "git checkout -q -b y x": true, "git switch x": true, "git merge x": true, "git fetch && git rebase x": true, "git cherry-pick x": true,
		"git reset --hard x": true, "git log x": true,
		"git checkout -": true, "git checkout -b y -": true, "git checkout - f": false, "git checkout x f": false, "git checkout x -- f": false, "git checkout -p x": false, "git merge --squash x": false, "git merge --no-commit x": false,
		"git cherry-pick -n x": false, "git cherry-pick -xn x": false, "git reset x": false, "git read-tree x": false, "git stash apply x": false,
		"git show x:f > f": false, "git log x | tee f": false, "git checkout x && cp f g": false, "git diff x | git apply": false, "git merge x; $Y": false,
	} {
		if got := words(t, line); got.Moves != want {
			t.Errorf("%s: %+v, want %v", line, got, want)
		}
	}
}
