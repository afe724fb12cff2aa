package catalog_test

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/secret/redact"
)

func TestWhereSecretsAreKept(t *testing.T) {
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	at := catalog.Places{Project: "/p", Home: "/home/u"}
	for path, want := range map[string]redact.Keeper{
		"/p/.env": redact.KeepsSecrets, "/p/a/.env.old": redact.KeepsSecrets, "/p/prod.env": redact.KeepsSecrets, "/p/.envrc": redact.KeepsSecrets,
		"/home/u/.ssh/x": redact.KeepsSecrets, "/p/.env.example": redact.MayKeep, "/p/.git/config": redact.MayKeep, "/p/a.properties": redact.MayKeep,
		"/p/main.go": redact.KeepsNone, "/p/env.go": redact.KeepsNone,
	} {
		if got := c.Keeps(path, at); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	for pattern, want := range map[string]bool{"/p/**": true, "/p/*": true, "/p/**/*.go": false, "/p/src/*.ts": false, "/p/*.yml": true} {
		if got := c.MayReach(pattern, at); got != want {
			t.Errorf("%s may reach a secret: %v", pattern, got)
		}
	}
	if list := c.HomeKeeps(); !slices.Contains(list, ".pgpass") || !slices.Contains(list, ".aws") || slices.Contains(list, "") {
		t.Errorf("of a home: %q", list)
	}
}

func TestWhatACallShowsOfFiles(t *testing.T) {
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	file := "/p/.env"
	for line, want := range map[string]bool{
		"grep -r x .": true, "grep -r x": true, "grep -r x src": false, "grep -r --include='*.go' x .": false, "grep -r --include='*env' x .": true,
		"grep -r --include='?env' x .": true, "rg x": false, "rg -g '*' x": true, "rg -g '!*.go' --hidden x": true, "rg -uu x": true, "rg -g '*.go' x": false,
		"cat *": false, "cat .*": true, "cat .e*": true, "find . -type f": false, "find . -exec cat {} +": true, "find . | xargs cat": true, "ls -R": false,
		"git diff": false, "git grep x": false, "git grep --untracked x": true, "git grep --no-index x": true, "tar cf - .": true, "zip -r x.zip .": true, "cp -r . /tmp/x": false,
	} {
		use := c.Classify(floodmark.ToolRef{Agent: "claude-code", Name: "Bash"},
			[]hook.Leaf{{Path: "command", Top: "command", Kind: hook.String, Value: line}}, nil, catalog.Places{Project: "/p", Home: "/home/u"})
		if got := slices.ContainsFunc(use.Contents, func(p string) bool { return catalog.Reaches(p, file) }); got != want {
			t.Errorf("%s: shows %s %v, want %v: %q", line, file, got, want, use.Contents)
		}
	}
}
