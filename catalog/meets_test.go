package catalog

import "testing"

// Two patterns meet if some path matches both.
func TestPatternsThatMeet(t *testing.T) {
	for _, tc := range []struct {
		list, shell string
		want        bool
	}{
		{"**/AGENTS.md", "/p/AGENTS.md", true},
		{"**/AGENTS.md", "/p/*.md", true},
		{"**/AGENTS.md", "/p/*.txt", false},
		{"**/AGENTS.md", "/p/*", true},
		{"**/AGENTS.md", "/p/AGENT?.md", true},
		{"**/AGENTS.md", "/p/AGENT[S].md", true},
		{"**/AGENTS.md", "/p/*/x", false},
		{"**/AGENTS.md", "/p/**/x", false},
		{"**/AGENTS.md", "/p/**/*.md", true},
		{"**/AGENTS.md", "/p/**", true},
		{"**/.envrc", "/p/*", false},
		{"**/.envrc", "/p/.*", true},
		{"**/.envrc", "/p/?envrc", false},
		{"**/.envrc", "/p/.env*", true},
		{"**/.claude/settings.json", "/p/.claude/*", true},
		{"**/.claude/settings.json", "/p/.c*/settings.json", true},
		{"**/.claude/settings.json", "/p/*/settings.json", false},
		{"**/*.mk", "/p/a*", true},
		{"**/*.mk", "/p/*k", true},
		{"**/*.mk", "/p/*z", false},
		{"**/a*b", "/p/*ab", true},
		{"**/a*b", "/p/b*a", false},
		{"/etc/**", "/et*/passwd", true},
		{"/etc/**", "/usr/*", false},
		{"/a/b", "/a/*/c", false},
		{"/a/b", "/a/**/b", true},
		{"/a/b", "/a", false},
		{"/a/**", "/a", true},
		{"/a/?", "/a/b*", true},
		{"/a/?", "/a/bc*", false},
	} {
		pat := Segments(splitPath(tc.list, nil))
		if got := meets(pat, splitPath(tc.shell, nil)); got != tc.want {
			t.Errorf("%s and %s: %v", tc.list, tc.shell, got)
		}
	}
	for in, want := range map[string]string{"a": "a", "a[bc]d": "a?d", "a[b": "a?b", "[a][b]": "??"} {
		if got := unbracket(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for path, want := range map[string]bool{"/p/*": false, "/p/*.json": false, "/p/??": false, "/p/.e*": true, "/p/*.tar.gz": true, "/p/*a": true, "/p/*.j*": true} {
		if aimed(path) != want {
			t.Errorf("%s is aimed: %v", path, !want)
		}
	}
}
