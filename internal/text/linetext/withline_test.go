package linetext

import (
	"strings"
	"testing"
)

// A line is inserted and nothing else changes, wherever the key is.
func TestWithLine(t *testing.T) {
	for old, want := range map[string]string{
		"":                             "version: 1\nsources:\n  - x\n",
		" \n\t":                        "version: 1\nsources:\n  - x\n",
		"version: 1":                   "version: 1\nsources:\n  - x\n",
		"sources:\n- a\nrelax: true\n": "sources:\n- a\n- x\nrelax: true\n",
		"sources: # of mine\n    - a\n    # more\n\nrelax: true\n": "sources: # of mine\n    - a\n    - x\n    # more\n\nrelax: true\n",
		"sources:\nrelax: true\n":                                  "sources:\n  - x\nrelax: true\n",
		"sources: [a]\n":                                           "",
	} {
		got, ok := WithLine(old, "sources", "- x", "")
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v", old, got, ok)
		}
	}
}

// Removing the inserted line gives the old text.
func FuzzWithLine(f *testing.F) {
	f.Add("version: 1\nsources:\n  - a\n")
	f.Add("sources:\n\n# x\n")
	f.Fuzz(func(t *testing.T, old string) {
		const line = "- {host: docs.news.example, trust: shared}"
		got, ok := WithLine(old, "sources", line, "# why")
		if !ok || strings.Contains(old, line) || strings.Contains(old, "# why") {
			return
		}
		if strings.Count(got, line) != 1 {
			t.Fatalf("%q", got)
		}
		if strings.TrimSpace(old) == "" {
			old = "" // a blank text is no policy, so nothing is kept
		}
		for l := range strings.Lines(old) {
			if !strings.Contains(got, strings.TrimSuffix(l, "\n")) {
				t.Errorf("%q lost %q", got, l)
			}
		}
		if text := Patch("policy.yaml", old, got, true); text == "" {
			t.Error("no patch")
		}
	})
}
