package condition

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// The limits of asking the CEL library about each source.
const (
	maxLibrary = 25_000 // sources: about as many as it can go through by itself within its cost limit
	maxThrough = 16     // elements of a list that it goes through for each source
)

// left leaves a part of a condition to the CEL library. The part must not mention sources. If it is
// about one source, it must not look at both the place of the source and the call.
func (c *compiler) left(e ast.Expr) (readTruth, bool) {
	if c.plan == nil || mentions(e, "sources") {
		return nil, false
	}
	source, s := c.source, c.split
	eval, err := c.plan(e)
	if err != nil {
		return nil, false
	}
	f := func(q *Question) truth { return truthFrom(eval(variables{q, source})) }
	if source == "" {
		return f, true
	}
	if !c.alone(e) && !c.mentionsSource(e) {
		at := len(s.once)
		s.once = append(s.once, f)
		return func(q *Question) truth { return q.about.once[at] }, true
	}
	place := s.reads(e, source)
	c.library = true
	return f, brief(e) && (!place || c.alone(e))
}

// leftText leaves a text that is the same for all sources to the CEL library.
func (c *compiler) leftText(e ast.Expr) (func(*Question) held, bool) {
	if c.plan == nil || mentions(e, "sources") {
		return nil, false
	}
	eval, err := c.plan(e)
	return func(q *Question) held {
		out, err := eval(variables{q: q})
		if err != nil {
			return held{is: failed}
		}
		if text, ok := out.(types.String); ok {
			return held{string(text), yep}
		}
		return held{is: no}
	}, err == nil
}

// reads notes at which fields of a source an expression looks. It reports whether the place is one.
func (s *split) reads(e ast.Expr, source string) (place bool) {
	all, named := 0, 0
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			if e.AsIdent() == source {
				all++
			}
		case ast.SelectKind:
			if !isIdent(e.AsSelect().Operand(), source) {
				return
			}
			named++
			field := e.AsSelect().FieldName()
			s.trust = s.trust || field == "trust"
			s.kind = s.kind || field == "kind"
			s.tool = s.tool || field == "tool"
			place = place || field == "place"
		}
	}))
	return place || all > named
}

// brief reports whether an expression goes through at most one list, a short one written in it.
func brief(e ast.Expr) bool {
	folds, long := 0, false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			folds++
			over := e.AsComprehension().IterRange()
			long = long || over.Kind() != ast.ListKind || len(over.AsList().Elements()) > maxThrough
		}
	}))
	return folds <= 1 && !long
}

// alone reports whether an expression depends on a source and on nothing else.
func (c *compiler) alone(e ast.Expr) bool {
	bound := map[string]bool{c.source: true}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			for _, name := range []string{e.AsComprehension().IterVar(), e.AsComprehension().AccuVar()} {
				bound[name] = !c.isVariable(name)
			}
		}
	}))
	alone := true
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && !bound[e.AsIdent()] {
			_, constant := c.constants[e.AsIdent()]
			alone = alone && constant
		}
	}))
	return alone
}

// mentionsSource reports whether an expression looks at the source that is asked about.
func (c *compiler) mentionsSource(e ast.Expr) bool { return c.source != "" && mentions(e, c.source) }

// mentions reports whether an expression has a name.
func mentions(e ast.Expr, name string) (does bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { does = does || isIdent(e, name) }))
	return does
}
