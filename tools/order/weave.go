package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// weave inserts points into the Go files of a tree, and returns how many.
func weave(root string) (points int, err error) {
	woven := map[string]bool{} // by folder and package: whether only test files have points
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return left(root, path)
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		n, name, err := weaveFile(path, points)
		if err != nil || n == points {
			return err
		}
		points = n
		key := filepath.Dir(path) + "\x00" + name
		only, before := woven[key]
		woven[key] = strings.HasSuffix(path, "_test.go") && (only || !before)
		return nil
	})
	for key, test := range woven {
		dir, name, _ := strings.Cut(key, "\x00")
		file := "zz_order_" + name + ".go"
		if test {
			file = "zz_order_" + name + "_test.go"
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, file), []byte(strings.Replace(pointText, "PACKAGE", name, 1)), 0o600))
	}
	return points, err
}

// left skips other modules, test data, and packages without concurrency that would become slow.
func left(root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == "." {
		return err
	}
	_, other := os.Stat(filepath.Join(path, "go.mod"))
	pure := []string{"wire", "kernel", "intent", "report", "catalog", "policy", "provenance", "approval", "audit", "hook", "internal/text/language", "internal/secret", "internal/shell/shellscan", "internal/shell/commandbook", "internal/shell/knownnames", "internal/shell/scripts"}
	if other == nil || filepath.Base(path) == "testdata" || strings.HasPrefix(filepath.Base(path), ".") || slices.Contains(pure, filepath.ToSlash(rel)) {
		return filepath.SkipDir
	}
	return nil
}

// weaveFile inserts points into one file, numbered from n+1.
func weaveFile(path string, n int) (points int, name string, err error) {
	src, err := os.ReadFile(path)
	if err != nil || strings.HasPrefix(string(src), "// Code generated") || strings.Contains(string(src), "//go:build ignore") {
		return n, "", err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		return n, "", err
	}
	var out strings.Builder
	last := 0
	for _, at := range places(set, f) {
		n++
		out.Write(src[last:at])
		fmt.Fprintf(&out, "orderPoint(%d); ", n)
		last = at
	}
	if last == 0 {
		return n, "", nil
	}
	out.Write(src[last:])
	return n, f.Name.Name, os.WriteFile(path, []byte(out.String()), 0o600)
}

// places returns the offsets in a file at which to insert points, sorted.
func places(set *token.FileSet, f *ast.File) []int {
	var at []int
	add := func(n ast.Node) { at = append(at, set.Position(n.Pos()).Offset) }
	first := func(n ast.Node) {
		if l, ok := n.(*ast.FuncLit); ok && len(l.Body.List) > 0 {
			add(l.Body.List[0])
		}
	}
	list := func(stmts []ast.Stmt) {
		after := false
		for _, s := range stmts {
			if after || meets(s) {
				add(s)
			}
			after = asks(s)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			list(n.List)
		case *ast.CaseClause:
			list(n.Body)
		case *ast.CommClause:
			list(n.Body)
			if len(n.Body) > 0 {
				add(n.Body[0])
			}
		case *ast.GoStmt:
			first(n.Call.Fun)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Go", "AfterFunc", "HandlerFunc", "HandleFunc"}, sel.Sel.Name) {
				for _, a := range n.Args {
					first(a)
				}
			}
		}
		return true
	})
	slices.Sort(at)
	return slices.Compact(at)
}

// meets reports whether goroutines wait for each other in a statement, or it asks another process.
func meets(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.SendStmt, *ast.SelectStmt:
		return true
	case *ast.ExprStmt:
		if u, ok := s.X.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			return true
		}
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "close" {
			return true
		}
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Lock", "RLock", "Wait", "Close", "Done", "Broadcast", "Signal", "Store"}, sel.Sel.Name) {
			return true
		}
	}
	return asks(s)
}

// asks reports whether a statement lets other goroutines continue, or asks another process: it
// unlocks, touches a file, or passes a context on.
func asks(s ast.Stmt) (found bool) {
	switch s.(type) {
	case *ast.AssignStmt, *ast.ExprStmt:
	default:
		return false
	}
	ast.Inspect(s, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if len(c.Args) > 0 {
			id, ok := c.Args[0].(*ast.Ident)
			found = found || ok && strings.Contains(strings.ToLower(id.Name), "ctx")
		}
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
			found = found || slices.Contains([]string{"Unlock", "RUnlock", "Rename", "WriteFile", "ReadFile", "Remove", "Listen", "Accept", "Dial", "Load", "Store", "CompareAndSwap"}, sel.Sel.Name)
		}
		return true
	})
	return found
}
