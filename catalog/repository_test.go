package catalog_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// The folders in which git works are known from a call, also if another program starts git.
func TestWhereGitWorks(t *testing.T) {
	t.Parallel()
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	at := catalog.Places{Project: "/p", Home: "/home/u"}
	uses := func(tool floodmark.ToolRef, at catalog.Places, args map[string]string) []string {
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		leaves, err := hook.Call{Args: data}.Leaves()
		if err != nil {
			t.Fatal(err)
		}
		return c.Classify(tool, leaves, nil, at).Repositories
	}
	bash, server := floodmark.ToolRef{Agent: "claude-code", Name: "Bash"}, floodmark.ToolRef{Server: "git", Name: "git_status"}
	for line, want := range map[string][]string{
		"git status":                      {"/p"},
		"cd sub && git log && gh pr list": {"/p/sub"},
		"git -C ~/x log; git status":      {"/home/u/x", "/p"},
		"git clone https://git.example/x": nil,
		"git init x":                      nil,
		"ls":                              nil,
	} {
		if got := uses(bash, at, map[string]string{"command": line}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if got := uses(bash, catalog.Places{}, map[string]string{"command": "git status"}); !slices.Equal(got, []string{""}) {
		t.Errorf("in a folder nobody knows: %q", got)
	}
	for path, want := range map[string][]string{"sub": {"/p/sub"}, "~/x": {"/home/u/x"}, "/x": {"/x"}} {
		if got := uses(server, at, map[string]string{"repo_path": path}); !slices.Equal(got, want) {
			t.Errorf("git_status %s: %q, want %q", path, got, want)
		}
	}
	if got := uses(server, at, map[string]string{}); !slices.Equal(got, []string{""}) {
		t.Errorf("git_status without a folder: %q", got)
	}
}
