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
		" /etc/a ":             {"/etc/a"},
	} {
		if got := Respelled(path); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
