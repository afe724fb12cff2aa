package policy

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// Sources are the sources of a session, of which rules see the live ones: of each its
// kind, its place, the tool that brought it and its effective trust. Zero Sources are none.
type Sources struct {
	Ledger *provenance.Ledger
	// Counts remember what rules answered about earlier sources; nil remembers nothing.
	Counts *provenance.Counts
}

// count returns of how many sources something holds. With a key that is remembered, so it
// must follow from the source alone.
func (s Sources) count(key any, holds func(*floodmark.Source, floodmark.Trust) bool) int {
	if s.Ledger == nil {
		return 0
	}
	if key == nil {
		s.Counts = nil
	}
	return s.Ledger.Count(s.Counts, key, holds)
}

// quantified is sources.exists(s, …) and sources.all(s, …), as CEL's macros expand them.
func (c *compiler) quantified(e ast.ComprehensionExpr) (readTruth, bool) {
	if c.source != "" || e.HasIterVar2() || !isIdent(e.IterRange(), "sources") || !isIdent(e.Result(), e.AccuVar()) || e.LoopStep().Kind() != ast.CallKind {
		return nil, false
	}
	step, decides := e.LoopStep().AsCall(), yep
	if step.FunctionName() == operators.LogicalAnd {
		decides = no
	} else if step.FunctionName() != operators.LogicalOr {
		return nil, false
	}
	if e.AccuInit().AsLiteral() != types.Bool(decides == no) || !isIdent(step.Args()[0], e.AccuVar()) || c.known(e.IterVar()) {
		return nil, false
	}
	c.source = e.IterVar()
	holds, ok := c.truth(step.Args()[1])
	alone := c.alone(step.Args()[1])
	c.source = ""
	if alone {
		return remembered(holds, decides), ok
	}
	return func(q *Question) truth {
		out, one := yep-decides, *q
		q.Sources.count(nil, func(src *floodmark.Source, trust floodmark.Trust) bool {
			one.source, one.sourceTrust = src, trust
			if t := holds(&one); t == decides || t == failed && out != decides {
				out = t
			}
			return false
		})
		return out
	}, ok
}

// remembered asks of each source once what follows from it alone. Such a test has no errors.
func remembered(holds readTruth, decides truth) readTruth {
	key := new(byte)
	return func(q *Question) truth {
		if q.Sources.count(key, func(src *floodmark.Source, trust floodmark.Trust) bool {
			return holds(&Question{source: src, sourceTrust: trust}) == decides
		}) > 0 {
			return decides
		}
		return yep - decides
	}
}

// known reports whether a name is that of a variable or of a constant.
func (c *compiler) known(name string) bool {
	_, constant := c.constants[name]
	return constant || slices.ContainsFunc(slices.Concat(textVariables(), numberVariables(), []string{"arg", "call.args", "sources"}), func(v string) bool {
		first, _, _ := strings.Cut(v, ".")
		return name == first
	})
}

// alone reports whether an expression follows from a source and from nothing else.
func (c *compiler) alone(e ast.Expr) bool {
	alone := true
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && e.AsIdent() != c.source {
			_, constant := c.constants[e.AsIdent()]
			alone = alone && constant
		}
	}))
	return alone
}

// sourceText returns how a text of a source is read, and false if it has no such text.
func sourceText(field string) (readText, bool) {
	switch field {
	case "kind":
		return func(q *Question) (string, bool) { return string(q.source.Origin.Kind), true }, true
	case "place":
		return func(q *Question) (string, bool) { return q.source.Origin.Place, true }, true
	case "tool":
		return func(q *Question) (string, bool) { return toolOf(q.source), true }, true
	}
	return nil, false
}

// toolOf is the tool that brought a source, or «server/tool»; empty if none did.
func toolOf(s *floodmark.Source) string {
	if s.Origin.Kind != floodmark.FromTool {
		return ""
	}
	return floodmark.ToolRef{Server: s.Origin.Server, Name: s.Origin.Name}.String()
}
