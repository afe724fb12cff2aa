package condition

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/alike"
	"github.com/floodmark/floodmark/provenance"
)

// Sources are the sources of a session. Rules see the live ones: the kind, place, tool and
// effective trust of each. The zero Sources are empty.
type Sources struct {
	Ledger *provenance.Ledger
	// Counts remember what rules answered about earlier sources; nil remembers nothing.
	Counts *Counts
}

// Counts group the sources of one session that no rule can tell apart, so that rules are asked
// of groups and not of each source. They change no answer. They belong to the caller that judges
// the session; the zero Counts remember nothing.
type Counts = alike.Book

// each calls f with every live source.
func (s Sources) each(f func(*floodmark.Origin, floodmark.Trust)) {
	if s.Ledger == nil {
		return
	}
	for i, stands := range s.Ledger.Stands() {
		if stands&alike.Dead == 0 {
			o := s.Ledger.Origin(i)
			f(&o, floodmark.Trust(stands))
		}
	}
}

// An about is the source, or the group of them, that a condition is asked about.
type about struct {
	origin *floodmark.Origin
	trust  floodmark.Trust
	bits   uint64  // the outcomes of [split.alone], two bits each
	passed uint    // the tests that its place passed, one bit each
	values []held  // the text of each test
	once   []truth // the outcomes of [split.once]
}

// A tally is the number of live sources for which a condition is false, is true, and fails.
type tally [failed + 1]int

// quantified compiles sources.exists(s, …), sources.all(s, …) and sources.exists_one(s, …), as
// CEL's macros expand them.
func (c *compiler) quantified(e ast.ComprehensionExpr) (readTruth, bool) {
	if !c.overSources(e) || e.LoopStep().Kind() != ast.CallKind {
		return nil, false
	}
	step := e.LoopStep().AsCall()
	switch step.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		decides := no
		if step.FunctionName() == operators.LogicalOr {
			decides = yep
		}
		if !isIdent(e.Result(), e.AccuVar()) || !isBool(e.AccuInit(), decides == no) || !isIdent(step.Args()[0], e.AccuVar()) {
			return nil, false
		}
		count, ok := c.counted(e.IterVar(), step.Args()[1])
		return func(q *Question) truth {
			switch t := count(q); {
			case t[decides] > 0:
				return decides
			case t[failed] > 0:
				return failed
			default:
				return yep - decides
			}
		}, ok
	case operators.Conditional:
		if !isCall(e.Result(), operators.Equals, e.AccuVar(), 1) || !isNumber(e.AccuInit(), 0) || !isCall(step.Args()[1], operators.Add, e.AccuVar(), 1) || !isIdent(step.Args()[2], e.AccuVar()) {
			return nil, false
		}
		count, ok := c.counted(e.IterVar(), step.Args()[0])
		return func(q *Question) truth {
			t := count(q)
			if t[failed] > 0 {
				return failed
			}
			return truthOf(t[yep] == 1)
		}, ok
	}
	return nil, false
}

// size compiles the size of sources or of sources.filter(s, …).
func (c *compiler) size(e ast.CallExpr) (readNumber, bool) {
	of := e.Target()
	if !e.IsMemberFunction() {
		of = e.Args()[0]
	}
	count, ok := c.listed(of)
	return func(q *Question) (int64, bool) {
		t := count(q)
		return int64(t[yep]), t[failed] == 0
	}, ok
}

// inPlaces compiles x in sources.map(s, s.place).
func (c *compiler) inPlaces(x ast.Expr, e ast.ComprehensionExpr) (readTruth, bool) {
	if !c.overSources(e) || !isIdent(e.Result(), e.AccuVar()) || e.LoopStep().Kind() != ast.CallKind {
		return nil, false
	}
	field, ok := added(e.LoopStep(), e.AccuVar())
	if !ok || field.Kind() != ast.SelectKind || !isIdent(field.AsSelect().Operand(), e.IterVar()) || field.AsSelect().IsTestOnly() || field.AsSelect().FieldName() != "place" {
		return nil, false
	}
	same := ast.NewExprFactory().NewCall(0, operators.Equals, x, field)
	value, ok := c.equalTo(x)
	if !ok || mentions(x, e.IterVar()) {
		return nil, false
	}
	count, ok := c.counted(e.IterVar(), same)
	return func(q *Question) truth {
		if value(q).is == failed { // even if there are no sources
			return failed
		}
		return truthOf(count(q)[yep] > 0)
	}, ok
}

// added recognises what adds one element to a list.
func added(e ast.Expr, list string) (ast.Expr, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Add || !isIdent(e.AsCall().Args()[0], list) {
		return nil, false
	}
	more := e.AsCall().Args()[1]
	if more.Kind() != ast.ListKind || len(more.AsList().Elements()) != 1 || len(more.AsList().OptionalIndices()) > 0 {
		return nil, false
	}
	return more.AsList().Elements()[0], true
}

// listed compiles a count of what is in sources or in sources.filter(s, …).
func (c *compiler) listed(e ast.Expr) (func(*Question) tally, bool) {
	if c.source == "" && isIdent(e, "sources") {
		return c.counted("", c.ast.Expr())
	}
	if e.Kind() != ast.ComprehensionKind {
		return nil, false
	}
	fold := e.AsComprehension()
	if !c.overSources(fold) || fold.LoopStep().Kind() != ast.CallKind || !isIdent(fold.Result(), fold.AccuVar()) {
		return nil, false
	}
	step := fold.LoopStep().AsCall()
	if step.FunctionName() != operators.Conditional || !isIdent(step.Args()[2], fold.AccuVar()) {
		return nil, false
	}
	if kept, ok := added(step.Args()[1], fold.AccuVar()); !ok || !isIdent(kept, fold.IterVar()) {
		return nil, false
	}
	return c.counted(fold.IterVar(), step.Args()[0])
}

// overSources reports whether a comprehension goes through the sources, and its name for a source
// is not that of a variable.
func (c *compiler) overSources(e ast.ComprehensionExpr) bool {
	return c.source == "" && !e.HasIterVar2() && isIdent(e.IterRange(), "sources") && !c.isVariable(e.IterVar())
}

// isVariable reports whether a name is that of a variable or of a constant.
func (c *compiler) isVariable(name string) bool {
	_, constant := c.constants[name]
	return constant || slices.ContainsFunc(slices.Concat(textVariables(), numberVariables(), []string{"arg", "call.args", "sources"}), func(v string) bool {
		first, _, _ := strings.Cut(v, ".")
		return name == first
	})
}

func isBool(e ast.Expr, want bool) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.Bool(want)
}

func isNumber(e ast.Expr, want int64) bool {
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.Int(want)
}

// isCall recognises an operator between a variable and a number.
func isCall(e ast.Expr, op, variable string, n int64) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == op && isIdent(e.AsCall().Args()[0], variable) && isNumber(e.AsCall().Args()[1], n)
}

// toolOf returns the tool that brought a source, as «tool» or «server/tool»; empty if none did.
func toolOf(o *floodmark.Origin) string {
	if o.Kind != floodmark.FromTool {
		return ""
	}
	return floodmark.ToolRef{Server: o.Server, Name: o.Name}.String()
}
