package linetext

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// FuzzExcerpt: for any file, the result is two lines that cannot steer a terminal.
func FuzzExcerpt(f *testing.F) {
	f.Add("a: b\nc: d\n", 2, 3)
	f.Add("\x1b]0;title\x07\xff\u202e", 1, 5)
	f.Add(strings.Repeat("ä", 300), 1, 290)
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		got := Excerpt([]byte(text), line, column)
		if got == "" {
			return
		}
		if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "^") {
			t.Errorf("not a line and a caret: %q", got)
		}
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf)) {
				t.Errorf("%q in %q", r, got)
			}
		}
	})
}

// FuzzDiff: both texts can be read back from the difference.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("", "a")
	f.Fuzz(func(t *testing.T, want, got string) {
		a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
		if len(a) > 50 || len(b) > 50 {
			return
		}
		var left, right []string
		for _, line := range middle(a, b) {
			if line[0] != '+' {
				left = append(left, line[2:])
			}
			if line[0] != '-' {
				right = append(right, line[2:])
			}
		}
		if !slices.Equal(left, a) || !slices.Equal(right, b) {
			t.Errorf("%q and %q became %q and %q", a, b, left, right)
		}
		Diff(want, got) // must not panic
	})
}
