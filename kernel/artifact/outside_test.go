package artifact

import (
	"os"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// Files left outside of the project are judged by their place, never by their name.
func TestOutside(t *testing.T) {
	low, local := floodmark.Label{Secrecy: floodmark.Private}, floodmark.Label{Trust: floodmark.Local}
	left := func(ref floodmark.ArtifactRef, l floodmark.Label) shelf {
		kept := shelf{{Artifact: floodmark.Artifact{Ref: ref, Sources: []floodmark.Source{{Label: l}}}}}
		for _, dir := range ancestors(ref.Name) {
			kept = append(kept, Kept{Artifact: floodmark.Artifact{Ref: folderRef(dir), Below: []floodmark.ArtifactRef{ref}}})
		}
		return kept
	}
	for _, c := range []struct {
		name string
		ref  floodmark.ArtifactRef
		l    floodmark.Label
		want bool
	}{
		{"at home", fileRef("/home/ann/x"), low, true},
		{"deep at home", fileRef("/home/ann/.local/lib/python3.12/site-packages/a.pth"), low, true},
		{"a tree at home", treeRef("/home/ann/y"), low, true},
		{"a tree that holds the home", treeRef("/home"), low, true},
		{"in another home", fileRef("/home/ben/x"), low, false},
		{"the owner's own, at home", fileRef("/home/ann/x"), local, false},
		{"beside the project", fileRef("/src/y/z"), low, true},
		{"above the project", fileRef("/src/go.work"), low, true},
		{"a tree that holds the project", treeRef("/src"), low, true},
		{"called like the project", fileRef("/src/team/app2/x"), low, true},
		{"in the project", fileRef("/src/team/app/x"), low, false},
		{"the project", treeRef("/src/team/app"), low, false},
		{"among the programs of the system", fileRef("/usr/local/bin/pytest"), low, true},
		{"scratch", fileRef("/tmp/x"), low, false},
		{"what was committed elsewhere", fileRef("/home/ann/lib/.git/HEAD"), low, false},
	} {
		b := newBooks(t)()
		b.At.Project, b.At.Home = "/src/team/app", "/home/ann"
		b.Store = left(c.ref, c.l)
		got := b.outside().named()
		if len(got) > 0 != c.want || len(got) > 1 {
			t.Errorf("%s: %v", c.name, got)
		}
		if c.want && (got[0].Label != floodmark.Label{Secrecy: floodmark.Public} || got[0].Artifact != c.ref) {
			t.Errorf("%s: %v", c.name, got[0])
		}
	}
}

// A box shows the system and toolchains, and nothing else outside of the project.
func TestInBoxes(t *testing.T) {
	b := newBooks(t)()
	b.At.Project, b.At.Home = "/src/Team/app", "/home/Ann"
	want := map[string]bool{
		"/home/ann": true, "/home": true, "/src/team": true, "/src": true, "/home/ann/.local/lib/x": true, "/usr/bin/x": true,
		"/src/team/other/x.go": false, "/src/go.work": false, "/home/ann/src/x.go": false, "/home/ann/gone": false, "/data/x": false,
	}
	for _, list := range [...]string{"home", "caches", "system"} {
		text, err := os.ReadFile("../../internal/box/data/" + list + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			switch line = strings.TrimSpace(line); {
			case line == "" || line[0] == '#':
			case line[0] == '/':
				want[line+"/x"] = true
			default:
				want["/home/ann/"+line+"/x"] = true
			}
		}
	}
	if len(want) < 50 {
		t.Fatalf("%d paths", len(want))
	}
	for name, shown := range want {
		if b.InBoxes(catalog.FoldPath(name)) != shown {
			t.Errorf("%s: %v", name, !shown)
		}
	}
	if b.At.Home = ""; !b.InBoxes("/data/x") {
		t.Error("nobody knows where the home is")
	}
}
