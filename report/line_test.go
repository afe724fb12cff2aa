package report

import (
	"strings"
	"testing"
)

// A foreign name is shown on one line, shortened and without hidden characters.
func TestVisible(t *testing.T) {
	long := strings.Repeat("é", 80)
	for name, want := range map[string]string{
		"plain name":              "plain name",
		"two\nlines\tand\rmore":   "two lines and more",
		"\x1b[2Jclear":            "·2Jclear",
		"a\u202eb\u200bc\ufeffd":  "abcd",
		"![p](https://x.example)": "!·p·(https://x.example)",
		"<img src=x> `a` |b| *c*": "·img src=x· ·a· ·b· ·c·",
		"\xff\xfe":                "",
		"a\u2028b\u2029c":         "abc",
		long:                      long,
		long + "x":                long + "…",
	} {
		if got := Visible(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
