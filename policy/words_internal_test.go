package policy

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

func TestSplitPath(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "/": "", ".": "", "./": "", "/a/../b": "b", "a//b/": "a b", "/a/b": "a b", "/..": "", "../a": ".. a", "~": "~",
	} {
		if got := splitPath(s); strings.Join(got, " ") != want || want == "" && got != nil {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}

func TestPathPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/a/**", "/a", true},
		{"/a/**", "/a/b/c", true},
		{"/a/**", "/ab", false},
		{"/a/*", "/a", false},
		{"/a/*", "/a/b", true},
		{"/a/*", "/a/b/c", false},
		{"/a/", "/a", true},
		{"/a", "/a/b", false},
		{"/a/b", "/a", false},
		{"/a/**/z", "/a/z", true},
		{"/a/**/z", "/a/b/c/z", true},
		{"/a/**/z", "/a/z/y", false},
		{"/a/**/y/z", "/a/y/y/z", true},
		{"/a/**/y/**/z", "/a/b/y/c/d/z", true},
		{"/a/**/y/**/z", "/a/b/c/z", false},
		{"/a/**/**", "/a", true},
		{"/a/b?", "/a/bc", true},
		{"/a/b?", "/a/b", false},
		{"/a/*.md", "/a/x.md", true},
		{"/a/*.md", "/a/x.MD", false},
		{"/a/[b]", "/a/[b]", true},
		{"/a/[b]", "/a/b", false},
		{`/a/\*`, `/a/\x`, true},
		{"/A", "/a", false},
		{"/a/b", "/x/../a/b", true},
		{"~/w/**", "/home/me/w/x", true},
		{"~/w/**", "/home/me/w", true},
		{"~/w/**", "/home/you/w/x", false},
		{"~/w/**", "/root/w/x", true},
		{"~/w/**", "~/w/x", true},
		{"~/w/**", "/home/w/x", false},
		{"~/w", "/home/me", false},
		{"~/w", "/", false},
		{"/w", "/home/me/w", false},
	} {
		p, ok := parsePath(c.pattern)
		if !ok {
			t.Errorf("%s is refused", c.pattern)
			continue
		}
		if got := p.matches(splitPath(c.path), []string{"/", "", "/home/me", "/root/"}); got != c.want {
			t.Errorf("%s over %s: %v", c.pattern, c.path, got)
		}
	}
	for pattern, want := range map[string]bool{"/**": true, "~/**": true, "/a*/b": true, "/?": true, "/a/**": false, "~/a": false} {
		if p, ok := parsePath(pattern); !ok || p.tooWide() != want {
			t.Errorf("%s is too wide: %v", pattern, !want)
		}
	}
	for _, pattern := range []string{"", "a", "~", "~a/b", "/", "~/", "//a", "/a//b", "/a/..", "/./a", "a/b"} {
		if _, ok := parsePath(pattern); ok {
			t.Errorf("%s is taken for a path", pattern)
		}
	}
}

func TestHostOf(t *testing.T) {
	for place, want := range map[string]string{
		"A.example": "a.example", "https://a.example/b": "a.example", "a.example:443/x": "a.example", "https://u:p@a.example:1/": "a.example",
		"u@v@a.example": "a.example", "a.example.": "a.example", "[::1]:80": "[::1]:80", "::1": "::1", "": "", "a.example/x@b.example": "a.example", "https://": "",
	} {
		if got := hostOf(place); got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
}

// Reasons beyond the room are lost, but never the strictest verdict. Each reason is
// there once, and reasons of the same verdict keep their order.
func TestReasons(t *testing.T) {
	var rs reasons
	room := len(rs.list)
	many := make([]floodmark.Reason, room+3)
	for i := range many {
		many[i].Verdict = floodmark.Audit
		rs.add(&many[i])
		rs.add(&many[i])
		if rs.n != min(i+1, room) {
			t.Fatalf("%d reasons after %d", rs.n, i+1)
		}
	}
	if rs.list[room-1] != &many[room-1] {
		t.Error("an equal reason took the last place")
	}
	many[room+1].Verdict = floodmark.Confirm
	rs.add(&many[room+1])
	if v, _, all := rs.conclude(); v != floodmark.Confirm || len(all) != room || all[0].Verdict != floodmark.Confirm {
		t.Errorf("%v of %d", v, len(all))
	}
	rs = reasons{}
	for i, v := range []floodmark.Verdict{floodmark.Audit, floodmark.Confirm, floodmark.Allow, floodmark.Audit, floodmark.Restrict, floodmark.Confirm} {
		rs.add(&floodmark.Reason{Verdict: v, Rule: string(rune('a' + i))})
	}
	rs.add(nil)
	order := ""
	_, _, all := rs.conclude()
	for _, r := range all {
		order += r.Rule
	}
	if order != "ebfad" {
		t.Error(order)
	}
	if v, reach, all := (&reasons{}).conclude(); v != floodmark.Allow || reach != floodmark.Free || all != nil {
		t.Errorf("%v %v %v", v, reach, all)
	}
}

func TestParseTool(t *testing.T) {
	for s, want := range map[string]toolName{
		"a": {"", "a"}, "a/b": {"a", "b"}, "a/b/c": {"a/b", "c"}, "a/": {"a", ""}, "/a": {"", "a"}, "a/*": {"a", "*"},
	} {
		if got := parseTool(s); got != want {
			t.Errorf("%s: %+v", s, got)
		}
	}
}
