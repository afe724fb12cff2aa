package fetching

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// A command with more words than are kept gets a name that no package has.
func TestPackagesBeyondTheLimit(t *testing.T) {
	entry := []*commandbook.Entry{{}, {Words: []string{"npm", "install"}, Installs: true}}
	for n, want := range map[int]bool{shellscan.MaxPartWords - 1: false, shellscan.MaxPartWords: true} {
		words := append([]string{"npm", "install"}, strings.Fields(strings.Repeat("a ", n-2))...)
		got := Packages(&shellscan.Report{Parts: []shellscan.Part{{Words: words, Entries: entry}}})
		if slices.Contains(got, "…") != want || !slices.Contains(got, "a") {
			t.Errorf("%d words: %v", n, len(got))
		}
	}
	if got := Packages(&shellscan.Report{Parts: []shellscan.Part{{Words: []string{"npm"}, Entries: entry}}}); got != nil {
		t.Errorf("fewer words than the entry: %q", got)
	}
}

func TestPlainPackage(t *testing.T) {
	for name, want := range map[string]string{"a": "a", "a@1": "a", "@a": "@a", "@a/b": "@a/b", "@a/b@1": "@a/b", "a=1": "a", "=a": "=a", "a[x]": "a", "a>1": "a", "a<1": "a", "a~1": "a", "a!1": "a"} {
		if got := plainPackage(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// An address of this machine works in a box. It must have a scheme or a port.
func TestOnThisMachine(t *testing.T) {
	for word, want := range map[string]bool{
		"http://127.0.0.1/a": true, "http://localhost:80/a?b": true, "127.0.0.1:80": true, "localhost:4199/a?b=c": true,
		"127.0.0.1": false, "localhost": false, "localhost:": false, "127.0.0.1:x/a": false, "127.0.0.1:80@a.example/": false, "localhost:80.a.example/": false,
		"http://127.0.0.1@a.example/": false, "xlocalhost:80": false, "a.example/127.0.0.1:80": false, "LOCALHOST:80": false,
	} {
		if got := onThisMachine(word); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}
