package kernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"

	"github.com/floodmark/floodmark"
)

// notRegrounded are the fields of a basis that a call that is classified again does not get, each
// with the reason.
var notRegrounded = map[string]string{
	"Unreadable":  "such a call is decided before it is classified",
	"Hinted":      "such a call is not classified again",
	"Interactive": "of older journals; Found reads it",
	"Strange":     "of older journals; Found reads it",
	"Wipes":       "of older journals; Found reads it",
	"Bound":       "of older journals, without effect",
	"Check":       "of older journals, without effect",
}

// Each field of a basis reaches the basis of a call that is classified again, or is known not to.
func TestRegroundKnowsEveryField(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "reclassify.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	note := func(e ast.Expr) {
		if s, ok := e.(*ast.SelectorExpr); ok && isBasis(s.X) {
			set[s.Sel.Name] = true
		} else if ok {
			if inner, ok := s.X.(*ast.SelectorExpr); ok && isBasis(inner.X) { // b.Returns.Secrecy
				set[inner.Sel.Name] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				note(left)
			}
		case *ast.CompositeLit:
			if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Basis" {
				for _, e := range n.Elts {
					set[e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name] = true
				}
			}
		}
		return true
	})
	if len(set) < 20 {
		t.Fatalf("only %d fields are set: %v", len(set), set)
	}
	for f := range reflect.TypeFor[floodmark.Basis]().Fields() {
		switch _, known := notRegrounded[f.Name]; {
		case !set[f.Name] && !known:
			t.Errorf("reground forgets %s: set it, or say in notRegrounded why not", f.Name)
		case set[f.Name] && known:
			t.Errorf("%s is set and in notRegrounded", f.Name)
		}
		delete(set, f.Name)
		delete(notRegrounded, f.Name)
	}
	if len(set)+len(notRegrounded) > 0 {
		t.Errorf("no fields of a basis: %v %v", set, notRegrounded)
	}
}

// isBasis reports whether an expression is a basis in reclassify.go: b or j.basis.
func isBasis(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "b"
	case *ast.SelectorExpr:
		return e.Sel.Name == "basis"
	}
	return false
}
