package yamlplace_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/format/yamlplace"
	"go.yaml.in/yaml/v3"
)

// The value in each file contains a sign that occurs only once. Its place is found in every style.
func TestEveryStyle(t *testing.T) {
	for _, file := range []string{
		"when: a == b && § == d",
		"when: 'it''s § here'",
		`when: "a \t\u00e9\x41 \" § b"`,
		"when: \"a \\\n  b § c\"",
		"when: |\n  one\n  two § three\n",
		"when: >\n  one\n  two\n\n  three § four\n",
		"when: one\n  two é § three",
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(file), &doc); err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		n := doc.Content[0].Content[1]
		before, _, ok := strings.Cut(n.Value, "§")
		if !ok {
			t.Fatalf("%q became %q", file, n.Value)
		}
		line := 1 + strings.Count(before, "\n")
		column := len([]rune(before[strings.LastIndex(before, "\n")+1:]))
		wantLine, wantColumn := place(file)
		if l, c := yamlplace.Find([]byte(file), n, line, column); l != wantLine || c != wantColumn {
			t.Errorf("%q: %d:%d, want %d:%d", file, l, c, wantLine, wantColumn)
		}
	}
}

// place returns the line and column of the sign, counted from 1.
func place(file string) (line, column int) {
	before, _, _ := strings.Cut(file, "§")
	return 1 + strings.Count(before, "\n"), 1 + len([]rune(before[strings.LastIndex(before, "\n")+1:]))
}
