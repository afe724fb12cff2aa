package catalog_test

import (
	"testing"

	"github.com/floodmark/floodmark/catalog"
)

func TestWhereAPathLies(t *testing.T) {
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	at := catalog.Places{Project: "/work", Home: "/home/anna"}
	for value, want := range map[string]struct {
		path      string
		kind      catalog.PathKind
		instructs bool
	}{
		"a.go":             {"/work/a.go", catalog.InProject, false},
		"../work/./x/..":   {"/work", catalog.InProject, false},
		"AGENTS.md":        {"/work/AGENTS.md", catalog.InProject, true},
		"~/notes.txt":      {"/home/anna/notes.txt", catalog.Elsewhere, false},
		"node_modules/x":   {"/work/node_modules/x", catalog.Foreign, false},
		"/tmp/x":           {"/tmp/x", catalog.Foreign, false},
		"~/Downloads/a.sh": {"/home/anna/Downloads/a.sh", catalog.Foreign, false},
	} {
		path := at.Clean(value, "")
		kind, instructs := c.Where(path, at)
		if path != want.path || kind != want.kind || instructs != want.instructs {
			t.Errorf("%s: %s %s %v, want %+v", value, path, kind, instructs, want)
		}
	}
	if got := at.Clean("a.go", "/other"); got != "/other/a.go" {
		t.Errorf("from another folder: %s", got)
	}
}

func TestPathsOfTheSystem(t *testing.T) {
	for path, want := range map[string]bool{"/usr/bin/make": true, "/bin/sh": true, "/usrlocal/x": false, "/work/usr/x": false, "/home/anna/bin/x": false} {
		if catalog.OfSystem(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
