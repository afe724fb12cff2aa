package hook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
)

func TestTails(t *testing.T) {
	for text, want := range map[string][]string{
		"$HOME/.aws/credentials":              {".aws/credentials"},
		`C:\Users\ada\.ssh\.old`:              {".old", ".ssh/.old"},
		"/home/ada/%2eaws/./x/../credentials": {".aws/credentials"},
		".netrc":                              {".netrc"},
		"100% of notes.txt":                   nil,
		"/.a/.b/.c/.d/.e":                     {".e", ".d/.e", ".c/.d/.e", ".b/.c/.d/.e"},
		strings.Repeat("a", 4096) + "/.netrc": nil,
	} {
		if got := (hook.Leaf{Value: text}).Tails(); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q", text, got)
		}
	}
	if got := (hook.Leaf{Path: "/home/ada/.netrc", Value: "true"}).Tails(); !slices.Equal(got, []string{".netrc"}) {
		t.Errorf("a name: %q", got)
	}
}
