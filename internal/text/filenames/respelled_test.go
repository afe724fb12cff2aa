package filenames

import (
	"slices"
	"testing"
)

// Each way in which an agent reads a path, alone and together.
func TestRespelled(t *testing.T) {
	for path, want := range map[string][]string{
		"a.txt": nil, "": nil, "@": nil, "100%": nil, "a b": nil, "x@y": nil,
		"@AGENTS.md":           {"AGENTS.md"},
		" @AGENTS.md":          {"AGENTS.md"},
		"/w/%2Egemini/x":       {"/w/.gemini/x"},
		"@%2Eenv":              {"@.env", "%2Eenv", ".env"},
		"my\u00a0docs/x":       {"my docs/x"},
		"@my\u3000docs/%2Egit": {"@my docs/%2Egit", "@my docs/.git", "my docs/%2Egit", "my docs/.git"},
		"@/a.js":               {"/a.js", "a.js"},
		`@\/a.js`:              {`\/a.js`, "a.js"},
		"@//%2Eenv":            {"@//.env", "@/.env", "//%2Eenv", "//.env", "/.env", "%2Eenv", ".env"},
		"x/%2e%2e/../%2e%2e/a": {"x/../../../a", "x/../a"},
		"~/a":                  {"./~/a"},
		"~":                    {"./~"},
		"File:///w/a":          {"./File:///w/a"},
		"a~/file:":             nil,
		" /etc/a ":             {"/etc/a"},
	} {
		if got := Respelled(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// A name is odd unless it is a clean path, or the end of one.
func TestOdd(t *testing.T) {
	for name, c := range map[string]struct {
		clean, folded string
		want          bool
	}{
		"/w/A.js":     {"/w/A.js", "/w/a.js", false},
		"d/a.js":      {"/w/d/a.js", "d/a.js", false},
		" a.js":       {"/w/a.js", "a.js", true},
		"~/a.js":      {"/home/ann/a.js", "~/a.js", true},
		`d\a.js`:      {"/w/d/a.js", "d/a.js", true},
		"./a.js":      {"/w/a.js", "./a.js", true},
		".js":         {"/w/a.js", ".js", true},
		"a\u200b.js":  {"/w/a\u200b.js", "a.js", true},
		"/w/a/../a.j": {"/w/a.j", "/w/a/../a.j", true},
	} {
		if Odd(name, c.clean, c.folded) != c.want {
			t.Errorf("%q: %v", name, !c.want)
		}
	}
}
