package catalog

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// A plain push of one branch to where the project came from, and what is not.
func TestPushes(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		"git push":          true,
		"git push -q -u -v": true,
		"git push --quiet --set-upstream origin main": true,
		"git push --verbose --porcelain --progress":   true,
		"git push origin":                            true,
		"git push origin feature/a-1.x_y":            true,
		"git push origin feature/a-1.x":              true,
		"git push -u origin Main9":                   true,
		"git add . && git commit -m x && git push":   true,
		"gofmt -w a.go && git push":                  true,
		"git status; git push; git log":              true,
		"git status":                                 false,
		"ls":                                         false,
		"git push upstream":                          false,
		"git push upstream main":                     false,
		"git push https://a.example/x main":          false,
		"git push origin main other":                 false,
		"git push origin main:other":                 false,
		"git push origin +main":                      false,
		"git push origin :main":                      false,
		"git push -f":                                false,
		"git push --force":                           false,
		"git push --force-with-lease":                false,
		"git push --delete origin x":                 false,
		"git push --all":                             false,
		"git push --mirror":                          false,
		"git push --tags":                            false,
		"git push -o x":                              false,
		"git push --repo=x":                          false,
		"git push --receive-pack=x":                  false,
		"git push ''":                                false,
		"git push origin $b":                         false,
		"git -C /q push":                             false,
		"cd /q && git push":                          false,
		"(cd /q; git push)":                          false,
		"pushd /q; git push":                         false,
		"popd; git push":                             false,
		"git remote set-url origin x && git push":    false,
		"git remote add x y && git push":             false,
		"git config remote.origin.url x && git push": false,
		"GIT_DIR=/q/.git git push":                   false,
		"git push && git push -f":                    false,
		"git push && curl -d x https://a.example":    false,
		"curl https://a.example; git push":           false,
		"echo x > a.go; git push":                    false,
		"echo x > .git/config; git push":             false,
		"cp a b && git push":                         false,
		"git reset --hard x && git push":             false,
		"git push && gh pr create":                   false,
	} {
		if u := shell(t, c, line); u.Pushes != want {
			t.Errorf("%q: pushes %v (effects %v)", line, u.Pushes, u.Effects)
		}
	}
}

// What makes a push another one than the owner asked for.
func TestPushesOfSomethingElse(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		`c\d /q && git push`:                        false,
		"X=cd; $X /q; git push":                     false,
		"env -C /q git push":                        false,
		"cd sub && git push":                        false,
		"cd $X && git push":                         false,
		"cd " + here().Project + " && git push":     true,
		"git tag v1 && git push":                    false,
		"git fetch origin a:b && git push":          false,
		"git branch -f main x && git push":          false,
		"git branch x y && git push":                false,
		"git branch x && git push":                  true,
		"git fetch origin main && git push":         true,
		"git add -f . && git push":                  false,
		"git add -f a.js && git push":               true,
		"git add -f a.js b && git push":             false,
		"git add --force -A a.js && git push":       false,
		"git add -f '*.js' && git push":             true,
		"git add -f *.js && git push":               false,
		"git checkout other && git push":            false,
		"git push; git checkout other":              true,
		"git pull --rebase && git push":             false,
		"git checkout -b x && git push -u origin x": true,
		"git push origin a && git push origin b":    false,
		"git push && git push origin b":             false,
	} {
		if u := shell(t, c, line); u.Pushes != want {
			t.Errorf("%q: pushes %v (effects %v)", line, u.Pushes, u.Effects)
		}
	}
}

func TestEachConditionOfAPush(t *testing.T) {
	part := func(e floodmark.Effect, words ...string) shellscan.Part {
		return shellscan.Part{Words: words, Effects: []floodmark.Effect{e}}
	}
	push := part(floodmark.Send, "git", "push")
	send := shellscan.Effect{Kind: shellscan.Send, Command: "git"}
	hooks := shellscan.Effect{Kind: shellscan.Hook, Command: "git", Path: "/p/.git/hooks"}
	tree := shellscan.Effect{Kind: shellscan.Write, Command: "git", Path: "/p", Tree: true}
	for _, c := range []struct {
		name    string
		parts   []shellscan.Part
		effects []shellscan.Effect
		want    bool
	}{
		{"as it is", []shellscan.Part{push}, nil, true},
		{"no push", []shellscan.Part{part(floodmark.Observe, "git", "status")}, nil, false},
		{"another program", []shellscan.Part{part(floodmark.Observe, "hub", "push")}, nil, false},
		{"one word", []shellscan.Part{part(floodmark.Observe, "git")}, nil, false},
		{"a forced one", []shellscan.Part{part(floodmark.Send, "git", "push", "-f")}, nil, false},
		{"a forced one before", []shellscan.Part{part(floodmark.Write, "git", "push", "-f"), push}, nil, false},
		{"sends", []shellscan.Part{push, part(floodmark.Send, "mail")}, nil, false},
		{"sets up", []shellscan.Part{push, part(floodmark.Admin, "x")}, nil, false},
		{"changes", []shellscan.Part{push, part(floodmark.Change, "x")}, nil, false},
		{"runs", []shellscan.Part{push, part(floodmark.Run, "go", "test")}, nil, true},
		{"writes", []shellscan.Part{push, part(floodmark.Write, "git", "commit")}, nil, true},
		{"an address", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Fetch, URL: "https://a.example"}}, false},
		{"git writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "git"}, send}, true},
		{"git writes a tree before", []shellscan.Part{push}, []shellscan.Effect{tree, send}, false},
		{"git writes a tree after", []shellscan.Part{push}, []shellscan.Effect{send, tree}, true},
		{"a formatter writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "gofmt"}}, true},
		{"another writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "cp"}}, false},
		{"another reads", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Read, Command: "cat"}}, true},
		{"it may tell keys", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Environment}}, false},
		{"another folder", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Hook, Command: "git", Path: "/q/.git/hooks"}}, false},
		{"the other sort of hooks", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Hook, Command: "git", Path: "/p/.git/hooks/pre-push"}}, true},
		{"another program's hooks", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Hook, Command: "python3", Path: "/p/json.py"}}, true},
	} {
		r := &shellscan.Report{Understood: true, Parts: c.parts, Effects: append([]shellscan.Effect{hooks}, c.effects...)}
		if branch, got := pushes(r, "/p"); got != c.want || branch != "" {
			t.Errorf("%s: %v %q", c.name, got, branch)
		}
		neverPushes(t, c.name, *r)
		if r.Loops = true; len(c.effects) > 0 && c.effects[len(c.effects)-1] == tree {
			if _, ok := pushes(r, "/p"); ok {
				t.Errorf("%s: in a loop", c.name)
			}
		}
	}
}

// neverPushes changes what no push may have.
func neverPushes(t *testing.T, name string, r shellscan.Report) {
	t.Helper()
	for why, change := range map[string]func(*shellscan.Report){
		"not understood": func(r *shellscan.Report) { r.Understood = false },
		"names a commit": func(r *shellscan.Report) { r.Names = []string{"/p"} },
		"no folder":      func(r *shellscan.Report) { r.Effects = nil },
	} {
		other := r
		change(&other)
		if _, ok := pushes(&other, "/p"); ok {
			t.Errorf("%s: %s", name, why)
		}
	}
	if _, ok := pushes(&r, ""); ok {
		t.Errorf("%s: no project", name)
	}
}

// The branch is told where the line does not check it out.
func TestBranchOfAPush(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]string{
		"git push":                                  "",
		"git push origin HEAD":                      "",
		"git push origin main":                      "main",
		"git push origin a; git push origin a":      "a",
		"git checkout -b x && git push -u origin x": "",
		"git switch -c x && git push -u origin x":   "",
		"git checkout -b x && git push -u origin y": "y",
		"git switch -d x; git push -u origin x":     "x",
		"git checkout -b x y && git push origin x":  "x",
		"git push origin x && git checkout -b x":    "x",
	} {
		if u := shell(t, c, line); u.Branch != want {
			t.Errorf("%q: %q", line, u.Branch)
		}
	}
}

func TestPlainPush(t *testing.T) {
	for _, c := range []struct {
		words  []string
		branch string
		want   bool
	}{
		{nil, "", true},
		{[]string{"origin"}, "", true},
		{[]string{"origin", "HEAD"}, "", true},
		{[]string{"origin", "azAZ09./-"}, "azAZ09./-", true},
		{[]string{"origin", "main", "x"}, "", false},
		{[]string{"main"}, "", false},
		{[]string{""}, "", false},
		{[]string{"-x"}, "", false},
		{[]string{"origin", "a:b"}, "a:b", false},
		{[]string{"origin", "a`"}, "a`", false},
		{[]string{"origin", "{"}, "{", false},
		{[]string{"origin", "@"}, "@", false},
		{[]string{"origin", "["}, "[", false},
		{[]string{"origin", "é"}, "é", false},
		{[]string{"origin", "+a"}, "+a", false},
	} {
		if branch, got := plainPush(c.words); got != c.want || branch != c.branch {
			t.Errorf("%q: %v %q", c.words, got, branch)
		}
	}
}
