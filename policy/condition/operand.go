package condition

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// number reads an expression that is a whole number.
func (c *compiler) number(e ast.Expr) (readNumber, bool) {
	if n, ok := c.constantNumber(e); ok {
		return func(*Question) (int64, bool) { return n, true }, true
	}
	switch e.Kind() {
	case ast.IdentKind:
		if read, ok := numberVariable(e.AsIdent()); ok {
			return func(q *Question) (int64, bool) { return read(q), true }, true
		}
	case ast.SelectKind:
		s := e.AsSelect()
		if c.ofSource(s) {
			return c.sourceNumber(s.FieldName())
		}
		key, ok := c.keyOf(s.Operand(), "arg")
		if !ok || s.FieldName() != "trust" || s.IsTestOnly() {
			return nil, false
		}
		return func(q *Question) (int64, bool) {
			if a := q.argument(key); a != nil {
				return int64(a.Trust), true
			}
			return 0, false
		}, true
	case ast.CallKind:
		if e.AsCall().FunctionName() == "size" {
			return c.size(e.AsCall())
		}
	}
	return nil, false
}

func (c *compiler) constantNumber(e ast.Expr) (n int64, ok bool) {
	switch e.Kind() {
	case ast.LiteralKind:
		literal, whole := e.AsLiteral().(types.Int)
		n, ok = int64(literal), whole
	case ast.IdentKind:
		n, ok = c.constants[e.AsIdent()]
	}
	return n, ok
}

// text reads an expression that is known to be a text.
func (c *compiler) text(e ast.Expr) (readText, bool) {
	if s, ok := constantText(e); ok {
		return func(*Question) (string, bool) { return s, true }, true
	}
	if e.Kind() == ast.IdentKind {
		if read, ok := textVariable(e.AsIdent()); ok {
			return func(q *Question) (string, bool) { return read(q), true }, true
		}
	}
	if e.Kind() == ast.SelectKind && c.ofSource(e.AsSelect()) {
		return c.sourceText(e.AsSelect().FieldName())
	}
	return nil, false
}

// ofSource reports whether e is a field of the source that is asked about.
func (c *compiler) ofSource(e ast.SelectExpr) bool {
	return c.source != "" && isIdent(e.Operand(), c.source) && !e.IsTestOnly()
}

// anyText is like text, but also reads an argument. It fails if that is not a text.
func (c *compiler) anyText(e ast.Expr) (readText, bool) {
	if f, ok := c.text(e); ok {
		return f, true
	}
	key, ok := c.argument(e)
	return func(q *Question) (string, bool) {
		if l := q.leaf(key); l != nil && l.Kind == hook.String {
			return l.Value, true
		}
		return "", false
	}, ok
}

func constantText(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// argument recognises call.args["to"] and call.args.to.
func (c *compiler) argument(e ast.Expr) (string, bool) { return c.keyOf(e, "call.args") }

// keyOf recognises an element of a mapping with a constant key.
func (c *compiler) keyOf(e ast.Expr, mapping string) (string, bool) {
	switch e.Kind() {
	case ast.SelectKind:
		s := e.AsSelect()
		return s.FieldName(), !s.IsTestOnly() && isIdent(s.Operand(), mapping)
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index || !isIdent(call.Args()[0], mapping) {
			return "", false
		}
		return constantText(call.Args()[1])
	}
	return "", false
}

func isIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// leaf returns an argument's value, or nil. It is also nil if two values share the
// path, so that no rule can be made to look at the wrong one.
func (q *Question) leaf(path string) *hook.Leaf {
	var found *hook.Leaf
	for i := range q.Leaves {
		if q.Leaves[i].Path != path {
			continue
		}
		if found != nil {
			return nil
		}
		found = &q.Leaves[i]
	}
	return found
}

// argument returns where an argument came from; nil in the same cases as leaf.
func (q *Question) argument(path string) *floodmark.Argument {
	var found *floodmark.Argument
	for i := range q.Args {
		if q.Args[i].Path != path {
			continue
		}
		if found != nil {
			return nil
		}
		found = &q.Args[i]
	}
	return found
}
