package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// A mutant is one small change to one file.
type mutant struct {
	pkg, file  string // slash-separated, from the module's root; the root package is «.»
	line, col  int
	kind       string
	where      string // the function or constant it is in
	nth        int    // its number among the mutants of the same kind and where, from 1
	start, end int    // the bytes that are replaced
	before     string
	after      string
}

// ID names the mutant by file, line and column, so the ID changes when lines move.
func (m mutant) ID() string { return fmt.Sprintf("%s:%d:%d:%s", m.file, m.line, m.col, m.kind) }

// Name names the mutant by the function or constant it is in, as in
// «label.go:Label.Join:minmax:1». Edits elsewhere in the file do not change the name.
func (m mutant) Name() string {
	return fmt.Sprintf("%s:%s:%s:%d", m.file, m.where, m.kind, m.nth)
}

// Change shows the change on one line.
func (m mutant) Change() string { return brief(m.before) + " => " + brief(m.after) }

func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// apply returns the file with the change made.
func (m mutant) apply(text string) string { return text[:m.start] + m.after + text[m.end:] }

// A generator walks through one declaration at a time and collects its mutants.
//
// Most mutants compile, because code is switched off and not removed, so that no variable
// or import becomes unused.
type generator struct {
	fset      *token.FileSet
	pkg, file string
	text      string
	where     string
	counts    map[string]int
	results   []*ast.FieldList // of the functions around the current node, the innermost last
	found     []mutant
}

func (g *generator) within(where string, n ast.Node) {
	// Two functions of a file may have the same name, such as «_» or init. If one follows the
	// other, their mutants are numbered on.
	if g.where != where {
		g.where, g.counts = where, map[string]int{}
	}
	ast.Walk(g, n)
}

func (g *generator) source(n ast.Node) string {
	return g.text[g.fset.Position(n.Pos()).Offset:g.fset.Position(n.End()).Offset]
}

// add adds a mutant that replaces the bytes of n. Its line and column are those of at, which
// no other mutant of the same kind may have.
func (g *generator) add(kind string, at token.Pos, n ast.Node, after string) {
	place, from, to := g.fset.Position(at), g.fset.Position(n.Pos()).Offset, g.fset.Position(n.End()).Offset
	g.counts[kind]++
	g.found = append(g.found, mutant{
		pkg: path.Clean(g.pkg), file: g.file, line: place.Line, col: place.Column, kind: kind, where: g.where, nth: g.counts[kind],
		start: from, end: to, before: g.text[from:to], after: after,
	})
}

func (g *generator) replace(kind string, n ast.Node, after string) { g.add(kind, n.Pos(), n, after) }

// Visit implements [ast.Visitor]. It walks into functions itself, because [generator.zero]
// needs the result types of the innermost function around a return.
func (g *generator) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.FuncDecl:
		g.function(n.Type, n.Body)
		return nil
	case *ast.FuncLit:
		g.function(n.Type, n.Body)
		return nil
	case *ast.ArrayType:
		ast.Walk(g, n.Elt) // not the length: with another one the type would not match
		return nil
	case *ast.BinaryExpr:
		g.operator(n)
	case *ast.CallExpr:
		return g.call(n)
	case *ast.IfStmt:
		g.condition(n)
	case *ast.ReturnStmt:
		g.zero(n)
	case *ast.BasicLit:
		if n.Kind == token.INT {
			g.replace("plus", n, "("+n.Value+"+1)")
		}
	case *ast.Ident:
		g.flip(n)
	case *ast.ExprStmt, *ast.IncDecStmt:
		g.drop(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			g.drop(n)
		}
	case *ast.BranchStmt:
		if n.Tok == token.BREAK || n.Tok == token.CONTINUE {
			g.drop(n)
		}
	case *ast.ForStmt:
		return g.loop(n)
	}
	return g
}

func (g *generator) function(t *ast.FuncType, body *ast.BlockStmt) {
	g.results = append(g.results, t.Results)
	ast.Walk(g, body)
	g.results = g.results[:len(g.results)-1]
}

// loop does not change init and post, because without them most loops never end, and a
// test that only times out says little.
func (g *generator) loop(n *ast.ForStmt) ast.Visitor {
	if n.Cond != nil {
		ast.Walk(g, n.Cond)
	}
	ast.Walk(g, n.Body)
	return nil
}

func (g *generator) operator(n *ast.BinaryExpr) {
	var other string
	kind := "compare"
	switch n.Op {
	case token.EQL:
		other = "!="
	case token.NEQ:
		other = "=="
	case token.LSS:
		other = "<="
	case token.LEQ:
		other = "<"
	case token.GTR:
		other = ">="
	case token.GEQ:
		other = ">"
	case token.LAND:
		other, kind = "||", "logic"
	case token.LOR:
		other, kind = "&&", "logic"
	default:
		return
	}
	// The other operator may have another precedence, so everything is put in brackets.
	g.add(kind, n.OpPos, n, "(("+g.source(n.X)+") "+other+" ("+g.source(n.Y)+"))")
}

func (g *generator) call(n *ast.CallExpr) ast.Visitor {
	name, ok := n.Fun.(*ast.Ident)
	if !ok {
		return g
	}
	switch {
	case name.Name == "min":
		g.replace("minmax", name, "max")
	case name.Name == "max":
		g.replace("minmax", name, "min")
	case name.Name == "make" && len(n.Args) > 1:
		// The last argument is left out, because it is mostly a capacity or a map's hint, which no
		// test can see.
		for _, a := range n.Args[:len(n.Args)-1] {
			ast.Walk(g, a)
		}
		return nil
	}
	return g
}

func (g *generator) condition(n *ast.IfStmt) {
	cond := g.source(n.Cond)
	if b, ok := n.Cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
		g.replace("negate", n.Cond, "!("+cond+")") // with == or != it would be the same as «compare»
	}
	if n.Else == nil {
		g.replace("drop", n.Cond, "false && ("+cond+")")
	}
}

func (g *generator) drop(n ast.Node) { g.replace("drop", n, "if false { "+g.source(n)+" }") }

// flip replaces true with false, and false with true, unless the file declares that name.
func (g *generator) flip(n *ast.Ident) {
	if n.Obj != nil {
		return
	}
	switch n.Name {
	case "true":
		g.replace("flip", n, "false")
	case "false":
		g.replace("flip", n, "true")
	}
}

// zero adds mutants that return a zero value in the place of one result, one for each
// result. If all results come from one call, it adds one mutant in which all are zero. A
// return without results is dropped.
func (g *generator) zero(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		g.drop(n)
		return
	}
	var zeros []string
	for _, t := range g.resultTypes() {
		zeros = append(zeros, "*new("+t+")")
	}
	before := g.source(n)
	instead := func(at ast.Node, results []string) {
		g.add("zero", at.Pos(), n, "if true { return "+strings.Join(results, ", ")+" }; "+before)
	}
	if len(n.Results) != len(zeros) { // return f(), which gives all results
		instead(n, zeros)
		return
	}
	for i, r := range n.Results {
		if isZero(r) {
			continue
		}
		var results []string
		for _, r := range n.Results {
			results = append(results, g.source(r))
		}
		results[i] = zeros[i]
		instead(r, results)
	}
}

func (g *generator) resultTypes() (types []string) {
	fields := g.results[len(g.results)-1]
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for range max(1, len(f.Names)) {
			types = append(types, g.source(f.Type))
		}
	}
	return types
}

// isZero reports whether an expression is plainly a zero value.
func isZero(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "false"
	case *ast.BasicLit:
		return e.Value == "0" || e.Value == `""` || e.Value == "``"
	case *ast.CompositeLit:
		_, slice := e.Type.(*ast.ArrayType)
		_, dict := e.Type.(*ast.MapType)
		return len(e.Elts) == 0 && !slice && !dict
	case *ast.ParenExpr:
		return isZero(e.X)
	}
	return false
}
