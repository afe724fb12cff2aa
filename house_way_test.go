package floodmark

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The way of one call in ARCHITECTURE.md is the code's: each line names a function and the file that
// declares it, a function calls those that are indented below it, and in that order.
func TestHouseWayOfACall(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## The way of one call\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	type step struct {
		depth    int
		name     string
		body     *ast.BlockStmt
		children token.Pos // where the last of them is called
	}
	var above []*step
	n := 0
	for _, m := range regexp.MustCompile(`(?m)^    ( *)([A-Za-z]+) +([a-z/]+\.go)\b`).FindAllStringSubmatch(rest, -1) {
		s := &step{depth: len(m[1]), name: m[2], body: function(t, m[3], m[2])}
		n++
		for len(above) > 0 && above[len(above)-1].depth >= s.depth {
			above = above[:len(above)-1]
		}
		if len(above) > 0 {
			by := above[len(above)-1]
			at := calledAfter(by.body, s.name, by.children)
			if at == token.NoPos {
				t.Errorf("%s does not call %s, or not after the line above it", by.name, s.name)
			}
			by.children = at
		}
		above = append(above, s)
	}
	if n < 20 {
		t.Errorf("the picture has %d lines", n)
	}
}

// function returns the body of a function or method of a file.
func function(t *testing.T, file, name string) *ast.BlockStmt {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
			return fn.Body
		}
	}
	t.Fatalf("%s declares no function %s", file, name)
	return nil
}

// calledAfter returns where a body calls a function first behind a place; zero if it does not.
func calledAfter(body *ast.BlockStmt, name string, after token.Pos) (at token.Pos) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || at != token.NoPos {
			return true
		}
		called := call.Fun
		if s, ok := called.(*ast.SelectorExpr); ok {
			called = s.Sel
		}
		if id, ok := called.(*ast.Ident); ok && id.Name == name && call.Rparen > after {
			at = call.Rparen // the arguments are called before
		}
		return true
	})
	return at
}
