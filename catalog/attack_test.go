package catalog_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/catalog"
)

// Edits that make something else of what stands around them, each harmless by
// itself: the first column is put in the place of the second.
func TestEditsThatJoin(t *testing.T) {
	for _, e := range [][2]string{
		{"~", ""},
		{"~", " "},
		{"-", "."},
		{" import s", " s"},
		{"\nfrom ", "\n "},
		{"# e", " e"},
		{"\n# e", "\n e"},
		{"\n# ", "\nx; "},
		{"n the file\n", "n(x)\n"},
		{` "e`, ` e`},
		{`c"(`, `c(`},
		{"x", "y"},
		{"ab cd", "xb cd"},
		{"ab cd", "ab cx"},
		{"", "\nx\n"},
		{"\nx\n", ""},
		{"a\n", "a "},
	} {
		if catalog.InertEdit("a.py", e[0], e[1]) {
			t.Errorf("%q for %q is inert", e[1], e[0])
		}
	}
	for _, e := range [][2]string{
		{"    return a - b\n", "    return a + b\n"},
		{"def f(a):\n    return a\n", "def f(a, b):\n    return b\n"},
		{"if x > 1:\n        y = 2", "if x > 2:\n        y = 2"},
		{"total(a)", "total(a, b)"},
	} {
		if !catalog.InertEdit("a.py", e[0], e[1]) {
			t.Errorf("%q for %q is not inert", e[1], e[0])
		}
	}
}

func TestClimbs(t *testing.T) {
	for text, want := range map[string]int{"": 0, "..": 0, "../x": 1, "a ../../x ../y": 2, `..\..\x`: 2, "..././": 1, strings.Repeat("../", 9): 9} {
		if got := catalog.Climbs(text); got != want {
			t.Errorf("%q climbs %d, want %d", text, got, want)
		}
	}
}
