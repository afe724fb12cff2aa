package linetext

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	tests := []struct{ name, want, got, diff string }{
		{"equal", "a\nb", "a\nb", "@ …"},
		{"changed", "a\nb\nc", "a\nx\nc", "  a|- b|+ x|  c"},
		{"added at the end", "a", "a\nb", "  a|+ b"},
		{"from nothing", "", "a\nb", "+ a|+ b"},
		{"far apart", "1\n2\n3\n4\n5\n6\n7\n8", "x\n2\n3\n4\n5\n6\n7\ny", "- 1|+ x|  2|  3|@ …|  6|  7|- 8|+ y"},
		{"moved", "a\nb\nc", "b\nc\na", "- a|  b|  c|+ a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(Diff(tt.want, tt.got), "|"); got != tt.diff {
				t.Errorf("got %s, want %s", got, tt.diff)
			}
		})
	}
	long := strings.Repeat("x\n", maxDiffLines+1)
	if n := len(Diff(strings.ReplaceAll(long, "x", "y")+"z", long)); n != 2*maxDiffLines+3 {
		t.Errorf("beyond the limit everything is shown: %d lines", n)
	}
}

func TestExcerpt(t *testing.T) {
	tests := []struct {
		name         string
		text         string
		line, column int
		want         string
	}{
		{"a column", "a: b\nc: d\n", 2, 4, "c: d\n   ^"},
		{"letters beyond ASCII", "é: ü\n", 1, 4, "é: ü\n   ^"},
		{"a tab stays in step", "\ta: b\n", 1, 2, " a: b\n ^"},
		{"behind the end", "ab", 1, 9, "ab\n  ^"},
		{"no column", "ab", 1, 0, "ab\n^"},
		{"no line", "ab", 0, 1, ""},
		{"no such line", "ab", 7, 1, ""},
		{"escape sequences", "a\x1b[31m", 1, 1, "a [31m\n^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Excerpt([]byte(tt.text), tt.line, tt.column); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	long := Excerpt([]byte(strings.Repeat("a", 500)+"X"+strings.Repeat("b", 500)), 1, 501)
	shown, mark, _ := strings.Cut(long, "\n")
	if r := []rune(shown); len(r) > maxExcerpt+4 || r[len([]rune(mark))-1] != 'X' {
		t.Errorf("the caret is not below its letter:\n%s", long)
	}
}
