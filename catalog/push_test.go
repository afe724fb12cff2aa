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

func TestEachConditionOfAPush(t *testing.T) {
	part := func(e floodmark.Effect, words ...string) shellscan.Part {
		return shellscan.Part{Words: words, Effects: []floodmark.Effect{e}}
	}
	push := part(floodmark.Send, "git", "push")
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
		{"git writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "git"}}, true},
		{"a formatter writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "gofmt"}}, true},
		{"another writes", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Write, Command: "cp"}}, false},
		{"another reads", []shellscan.Part{push}, []shellscan.Effect{{Kind: shellscan.Read, Command: "cat"}}, true},
	} {
		r := &shellscan.Report{Understood: true, Parts: c.parts, Effects: c.effects}
		if got := pushes(r, "git push"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if pushes(r, "cd x; git push") || pushes(r, "git push&&popd") {
			t.Errorf("%s: elsewhere", c.name)
		}
		r.Understood = false
		if pushes(r, "git push") {
			t.Errorf("%s: not understood", c.name)
		}
	}
}

func TestPlainPush(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  bool
	}{
		{nil, true},
		{[]string{"origin"}, true},
		{[]string{"origin", "azAZ09./-"}, true},
		{[]string{"origin", "main", "x"}, false},
		{[]string{"main"}, false},
		{[]string{""}, false},
		{[]string{"-x"}, false},
		{[]string{"origin", "a:b"}, false},
		{[]string{"origin", "a`"}, false},
		{[]string{"origin", "{"}, false},
		{[]string{"origin", "@"}, false},
		{[]string{"origin", "["}, false},
		{[]string{"origin", "é"}, false},
		{[]string{"origin", "+a"}, false},
	} {
		if got := plainPush(c.words); got != c.want {
			t.Errorf("%q: %v", c.words, got)
		}
	}
}

func TestWordsThatMove(t *testing.T) {
	for c, want := range map[rune]bool{' ': true, '\t': true, '\n': true, ';': true, '"': true, '$': true, '`': true, '!': false, 'a': false, '-': false} {
		if notOfWord(c) != want {
			t.Errorf("%q", c)
		}
	}
	for w, want := range map[string]bool{"cd": true, "pushd": true, "popd": true, "push": false} {
		if moves(w) != want {
			t.Errorf("%q", w)
		}
	}
}
