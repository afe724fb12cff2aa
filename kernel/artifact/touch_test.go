package artifact

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// A session tidies up what it wrote itself.
func TestTidies(t *testing.T) {
	b := newBooks(t)()
	own := Kept{Version: floodmark.ArtifactVersion{Session: "s"}, Artifact: floodmark.Artifact{Ref: fileRef("/p/own")}}
	other := Kept{Version: floodmark.ArtifactVersion{Session: "x"}, Artifact: floodmark.Artifact{Ref: fileRef("/p/other")}}
	b.Store = shelf{own, other}
	for _, c := range []struct {
		use  catalog.Use
		want bool
	}{
		{catalog.Use{Tidies: true}, true},
		{catalog.Use{Tidies: true, Removes: []string{"/p/own"}}, true},
		{catalog.Use{Removes: []string{"/p/own"}}, false},
		{catalog.Use{Tidies: true, Removes: []string{"/p/other"}}, false},
		{catalog.Use{Tidies: true, Removes: []string{"/p/own", "/p/other"}}, false},
		{catalog.Use{Tidies: true, Removes: []string{"/p/unknown"}}, false},
	} {
		if got := b.Tidies(&c.use); got != c.want {
			t.Errorf("%+v: %v", c.use, got)
		}
	}
}

// linkDisk is a disk on which one folder is a link.
type linkDisk struct{ emptyDisk }

func (linkDisk) Resolve(p string) string { return strings.Replace(p, "/p/link/", "/home/", 1) }

// A file is not taken for the session's own because a file of that name once was.
func TestTidiesFollowsLinks(t *testing.T) {
	b := newBooks(t)()
	b.Store = shelf{{Version: floodmark.ArtifactVersion{Session: "s"}, Artifact: floodmark.Artifact{Ref: fileRef("/p/link/a")}}}
	use := catalog.Use{Tidies: true, Removes: []string{"/p/link/a"}}
	if !b.Tidies(&use) {
		t.Error("without a link")
	}
	if b.Disk = (linkDisk{}); b.Tidies(&use) {
		t.Error("through a link")
	}
}

// A record that an older version called inert applies when its file is run, and one of commits does
// not.
func TestActing(t *testing.T) {
	b := newBooks(t)()
	word := func(name string, inert bool) Kept {
		return Kept{Artifact: floodmark.Artifact{Ref: fileRef(name), Inert: inert, Sources: []floodmark.Source{{Label: floodmark.Label{Trust: floodmark.Untrusted}}}}}
	}
	commits := "/p" + catalog.CommitsOf
	b.Store = shelf{word("/p/a", true), word(commits, false)}
	for p, want := range map[string]int{"/p/a": 1, "/p/b": 0, commits: 0} {
		if got := b.acting(p); len(got) != want {
			t.Errorf("%s: %v act", p, got)
		}
	}
}

// The path of a tree or of a pattern is resolved through the link before it.
func TestTreesBehindLinks(t *testing.T) {
	b := newBooks(t)()
	b.Disk = linkedDisk{links: map[string]string{"/p/tree": "/srv/tree", "/p/top": "/"}}
	got := b.resolved([]string{"/p/tree/**", "/p/tree/*.js", "/p/tree", "/p/t*/x", "/p/top/**", "/p/top", "/", "/**", "*", "", "/p/tree/[a]/b"})
	if want := []string{"/srv/tree/**", "/srv/tree/*.js", "/srv/tree", "/p/t*/x", "/**", "/", "/", "/**", "*", "", "/srv/tree/[a]/b"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// linkedDisk is a disk with links, by their names.
type linkedDisk struct {
	emptyDisk
	links map[string]string
}

func (d linkedDisk) Resolve(p string) string { return cmp.Or(d.links[p], p) }
