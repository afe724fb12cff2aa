package policy

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/spelling"
	"github.com/floodmark/floodmark/internal/yamlplace"
	"go.yaml.in/yaml/v3"
)

// A NamedTool is a tool that a policy speaks about, and where it does. Whether
// such a tool exists is not known here.
type NamedTool struct {
	Tool         string // «tool», «server/tool», «server/*», or «*»
	File         string
	Line, Column int
	// Narrow says that a name without a server means a built-in tool alone.
	Narrow bool
}

// NamedTools returns the tools the layers speak about, in their order.
func (p *Policy) NamedTools() []NamedTool {
	if p == nil {
		return nil
	}
	return slices.Clone(p.named)
}

func (r *reader) mention(narrow bool, nodes ...*yaml.Node) {
	for _, n := range nodes {
		r.mentionAt(n.Value, n.Line, n.Column, narrow)
	}
}

func (r *reader) mentionAt(tool string, line, column int, narrow bool) {
	r.named = append(r.named, NamedTool{Tool: tool, File: r.name, Line: line, Column: column, Narrow: narrow})
}

// compared looks at the words a condition compares variables with. An unknown
// effect, or one agent of a program, makes a rule that never applies.
func (r *reader) compared(n *yaml.Node, a *ast.AST) {
	ast.PreOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		c := e.AsCall()
		if !slices.Contains([]string{operators.Equals, operators.NotEquals, operators.In}, c.FunctionName()) {
			return
		}
		x, y := c.Args()[0], c.Args()[1]
		if y.Kind() == ast.IdentKind {
			x, y = y, x
		}
		for _, word := range constantTexts(y) {
			text, _ := constantText(word)
			at := a.SourceInfo().GetStartLocation(word.ID())
			line, column := yamlplace.Find(r.data, n, at.Line(), at.Column())
			switch {
			case isIdent(x, "call.tool"):
				r.mentionAt(text, line, column, false)
			case (isIdent(x, "agent") || isIdent(x, "call.agent")) && floodmark.Program(text) != text:
				r.note(floodmark.Error, line, column, "one-agent", fmt.Sprintf("agent is the program, so it is never %q", text), "write the rule into a section of its own: agents: {"+text+": {rules: …}}")
			case isIdent(x, "call.effect") && !slices.Contains(effectWords(), text):
				hint := "write one of " + oneOf(effectWords())
				if near, ok := spelling.Word(text, effectWords()); ok {
					hint = fmt.Sprintf("did you mean %q? It is one of %s", near, oneOf(effectWords()))
				}
				r.note(floodmark.Warning, line, column, "unknown-word", fmt.Sprintf("%q is not known as an effect, so this is never equal", text), hint)
			}
		}
	}))
}

// constantTexts returns a text, or the texts in a list.
func constantTexts(e ast.Expr) []ast.Expr {
	list := []ast.Expr{e}
	if e.Kind() == ast.ListKind {
		list = slices.Clone(e.AsList().Elements())
	}
	return slices.DeleteFunc(list, func(e ast.Expr) bool {
		_, ok := constantText(e)
		return !ok
	})
}
