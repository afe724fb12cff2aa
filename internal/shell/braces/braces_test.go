package braces_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/braces"
	"mvdan.cc/sh/v3/syntax"
)

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a{b,c}d": "abd acd", "{1..3}": "1 2 3", "{3..1}": "3 2 1", "{a..c}": "a b c", "{C..A}": "C B A",
		"{a..C}": "$_", "x{1..9999}": "x$(())", "{01..03}": "$(())", "{a,b}{1,2}": "a1 a2 b1 b2",
	} {
		file, err := syntax.NewParser().Parse(strings.NewReader("echo "+text), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range braces.Expand(file.Stmts[0].Cmd.(*syntax.CallExpr).Args[1]) {
			var b strings.Builder
			for _, p := range w.Parts {
				switch p := p.(type) {
				case *syntax.Lit:
					b.WriteString(p.Value)
				case *syntax.ParamExp:
					b.WriteString("$" + p.Param.Value)
				default:
					b.WriteString("$(())")
				}
			}
			got = append(got, b.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
