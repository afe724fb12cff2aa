package spelling_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/text/spelling"
)

func TestEdits(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, x := range []struct {
		a, b         string
		edits, swaps int
	}{
		{"", "", 0, 0},
		{"", "abc", 3, 3},
		{"rules", "rules", 0, 0},
		{"rule", "rules", 1, 1},
		{"roles", "rules", 1, 1},
		{"rulse", "rules", 2, 1},
		{"abcd", "badc", 3, 2},
		{"kitten", "sitting", 3, 3},
		{"ca", "abc", 3, 3},
		{long, long, 64, 0},
		{long, "x", 64, 64},
	} {
		for _, way := range [][2]string{{x.a, x.b}, {x.b, x.a}} {
			if got := spelling.Edits(way[0], way[1]); got != x.edits {
				t.Errorf("from %q to %q: %d edits, want %d", way[0], way[1], got, x.edits)
			}
			if got := spelling.EditsOrSwaps(way[0], way[1]); got != x.swaps {
				t.Errorf("from %q to %q: %d edits or swaps, want %d", way[0], way[1], got, x.swaps)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"exec", "execute", "read", "web_fetch", "web_search"}
	for got, want := range map[string]string{
		"exce": "exec", "reed": "read", "web_": "web_fetch web_search", "xyz": "", "EXEC": "exec", "": "",
	} {
		if near := strings.Join(spelling.Nearest(got, words, 2), " "); near != want && !(got == "EXEC" && strings.HasPrefix(near, want)) {
			t.Errorf("Nearest(%q) is %q, want %q", got, near, want)
		}
	}
}

// The word of a policy that was meant.
func TestNearestIsNear(t *testing.T) {
	for _, c := range []struct{ got, words, want string }{
		{"abXXefgh", "abcdefgh", "abcdefgh"},             // two wrong letters are always accepted
		{"aXXXefgh", "abcdefgh", ""},                     // three of eight are not
		{"aXXXefghi", "abcdefghi", "abcdefghi"},          // three of nine are
		{"XXXXefghijk", "abcdefghijk", ""},               // four of eleven are not
		{"XXXXefghijkl", "abcdefghijkl", "abcdefghijkl"}, // four of twelve are
		{"ab", "cd", ""},
		{"abc", "xbz", "xbz"},
		{"a", "ab", ""},
		{"aab", "aax aay", "aax"},
		{"aax", "aay aax", "aax"},
		{"AB-C_D e", "abcde", "abcde"},
		{"deny", "restrict allow", "restrict"},
		{"deny", "zzzzzzzz", ""},
		{strings.Repeat("a", 65), strings.Repeat("a", 65), ""},
		{strings.Repeat("a", 64), strings.Repeat("a", 63), strings.Repeat("a", 63)},
	} {
		near, ok := spelling.Word(c.got, strings.Fields(c.words))
		if !ok {
			near = ""
		}
		if near != c.want {
			t.Errorf("%s among %s: %q, want %q", c.got, c.words, near, c.want)
		}
	}
	for meant, words := range map[string]string{
		"restrict": "deny block forbid reject never refuse", "confirm": "ask prompt approve approval question", "allow": "permit accept pass yes always",
		"audit": "review check", "owner": "user me", "untrusted": "internet web public", "rules": "policies", "observe": "read",
		"run": "exec execute shell", "change": "delete", "fetch": "http network",
	} {
		for _, w := range strings.Fields(words) {
			if near, ok := spelling.Word(strings.ToUpper(w), []string{"zzzzzzzzzzzz", meant}); !ok || near != meant {
				t.Errorf("%s: %s, want %s", w, near, meant)
			}
		}
	}
}
