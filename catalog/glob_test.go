package catalog

import (
	"errors"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// matchModel is the plainest implementation of [Segments.Match].
func matchModel(pat, segs []string) bool {
	switch {
	case len(pat) == 0:
		return len(segs) == 0
	case pat[0] == "**":
		return matchModel(pat[1:], segs) || len(segs) > 0 && matchModel(pat, segs[1:])
	case len(segs) == 0:
		return false
	}
	ok, err := path.Match(pat[0], segs[0])
	return ok && err == nil && matchModel(pat[1:], segs[1:])
}

func TestMatchIsWhatThePlainWaySays(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	word := func(letters ...string) string {
		out := ""
		for range 1 + rng.IntN(4) {
			out += letters[rng.IntN(len(letters))]
		}
		return out
	}
	matched := 0
	for range 20_000 {
		var pat, segs []string
		for range rng.IntN(5) {
			if rng.IntN(3) == 0 {
				pat = append(pat, "**")
			} else {
				pat = append(pat, word("a", "b", "é", "*", "?"))
			}
		}
		for range rng.IntN(5) {
			segs = append(segs, word("a", "b", "é"))
		}
		got := Segments(pat).Match(segs)
		if want := matchModel(pat, segs); got != want {
			t.Fatalf("%q on %q: %v, want %v", pat, segs, got, want)
		}
		if got {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d pairs match: the words are too different", matched)
	}
}

func TestParseGlob(t *testing.T) {
	long := func(n int) string { return "/" + strings.Repeat("a/", n-1) + "b" }
	for text, want := range map[string]error{
		"/a": nil, "~/a": nil, "**/a": nil, "/**": nil, "/A/*b?/**": nil, long(maxGlobSegments): nil,
		"": errGlobRoot, "a": errGlobRoot, "*/a": errGlobRoot, "~a": errGlobRoot, "**": errGlobRoot,
		"/": errGlobLong, "~/": errGlobLong, "/a/": errGlobLong, "/a//b": errGlobLong, "/./a": errGlobLong, "/a/..": errGlobLong,
		long(maxGlobSegments + 1): errGlobLong,
	} {
		g, err := parseGlob(text)
		if !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", text, err, want)
		}
		if err == nil && g.String() != text || err != nil && g.segs != nil {
			t.Errorf("%q became %q", text, g.String())
		}
	}
}

// A folder holds what could match below it.
func TestHolds(t *testing.T) {
	for _, tc := range []struct {
		glob, folder string
		want         bool
	}{
		{"/a/b/c", "", false},
		{"/a/b/c", "a", true},
		{"/a/b/c", "a/b", true},
		{"/a/b/c", "a/b/c", false},
		{"/a/b/c", "b", false},
		{"/a/*/c", "a/x", true},
		{"/a/**", "a", true},
		{"**/a/b/c", "a", true},
		{"**/a/b/c", "x/a", true},
		{"**/a/b/c", "x/a/b", true},
		{"**/a/b/c", "a/b", true},
		{"**/a/b/c", "a/b/c", false},
		{"**/a/b/c", "b", false},
		{"**/a/b/c", "a/x", false},
		{"**/a", "a", false},
		{"**/a", "x", false},
		{"**/a/b", "", false},
	} {
		g, err := parseGlob(tc.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := holds(g.low, splitPath(tc.folder, nil)); got != tc.want {
			t.Errorf("%s in %s: %v", tc.glob, tc.folder, got)
		}
	}
}

// Where a pattern begins: anywhere, in a home, or at the root.
func TestRootsOfPatterns(t *testing.T) {
	ps := newPaths(parse(t, `
paths:
  secret: ["~/keys/**", "**/?", "**/*.pem"]
  instructs: ["/srv/run", "/*/*/x?"]
  selfProtected: ["/opt/mon/conf", "~/.mon/conf"]
  foreign: ["**/in/**"]
`).globs)
	for _, tc := range []struct {
		value string
		guard guard
		kind  PathKind
		holds [2]bool // a system folder counted, and not
	}{
		{"/home/u/keys/rsa", isSecret, Elsewhere, [2]bool{}},
		{"/home/u/Keys", isSecret, Elsewhere, [2]bool{}},
		{"/keys/rsa", 0, Elsewhere, [2]bool{}},
		{"/srv/keys/rsa", 0, Elsewhere, [2]bool{}},
		{"/q/r.pem", isSecret, Elsewhere, [2]bool{}},
		{"/qq/p", isSecret, Elsewhere, [2]bool{}},
		{"/srv/run", isInstructs, Elsewhere, [2]bool{}},
		{"/srv/run/more", 0, Elsewhere, [2]bool{}},
		{"srv/run", 0, Elsewhere, [2]bool{}},
		{"/aa/bb/xy", isInstructs, Elsewhere, [2]bool{}},
		{"/proj/main", 0, InProject, [2]bool{}},
		{"/proj/in/main", isForeign, Foreign, [2]bool{}},
		{"/opt/mon", 0, Elsewhere, [2]bool{true, false}},
		{"/opt/mon/conf", isProtected, Elsewhere, [2]bool{}},
		{"/home/u/.mon", 0, Elsewhere, [2]bool{true, true}},
		{"/.mon", 0, Elsewhere, [2]bool{}},
		{"opt", 0, Elsewhere, [2]bool{}},
		{"/", 0, Elsewhere, [2]bool{true, false}},
		{"/home/ann", 0, Elsewhere, [2]bool{true, false}},
	} {
		s := ps.look(tc.value, "", Places{Project: "/proj"}, nil)
		if s.guard &^= isOutside | isHidden | isAway; s.guard != tc.guard || s.kind != tc.kind {
			t.Errorf("%s: guard %d %v, want %d %v", tc.value, s.guard, s.kind, tc.guard, tc.kind)
		}
		if got := [2]bool{ps.holdsProtected(&s, true), ps.holdsProtected(&s, false)}; got != tc.holds {
			t.Errorf("%s holds %v, want %v", tc.value, got, tc.holds)
		}
	}
}

func TestLengthOfAPath(t *testing.T) {
	ps := newPaths(nil)
	at := ps.look("/"+strings.Repeat("a", MaxPathBytes-1), "", Places{}, nil)
	beyond := ps.look("/"+strings.Repeat("a", MaxPathBytes), "", Places{}, nil)
	if at.guard != isOutside || at.kind != Elsewhere || beyond.guard != isForeign|isHidden|isOutside || beyond.kind != Foreign || len(beyond.text) != 64 || beyond.home != -1 {
		t.Errorf("at the limit %d %v, beyond %d %v %q", at.guard, at.kind, beyond.guard, beyond.kind, beyond.text)
	}
}
