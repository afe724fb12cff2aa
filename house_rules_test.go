package floodmark_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	maxFileLines = 500
	maxFuncLines = 60
)

// impure lists functions that a pure package may not use although it may import their package. The
// empty key is for builtins.
func impure() map[string][]string {
	return map[string][]string{
		"archive/zip": {"OpenReader"},
		"context":     {"WithCancel", "WithCancelCause", "WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause", "AfterFunc"},
		"time":        {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep", "Local", "LoadLocation"},
		"fmt":         {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"io":          {"Pipe"},
		"sync":        {"Mutex", "RWMutex", "Locker", "Cond", "NewCond", "WaitGroup", "Pool", "Map", "Once"}, // OnceValue and its kin are left
		"mime":        {"TypeByExtension", "ExtensionsByType", "AddExtensionType"},                           // these read the disk
		"":            {"print", "println"},
	}
}

// A source is one parsed Go file.
type source struct {
	fset  *token.FileSet
	file  *ast.File
	names map[string]string // the import path of each package by its name in the file
}

func parse(t *testing.T, path string) source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseText(t, path, string(text))
}

func parseText(t *testing.T, name, text string) source {
	t.Helper()
	s := source{fset: token.NewFileSet(), names: map[string]string{}}
	f, err := parser.ParseFile(s.fset, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s.file = f
	for _, imp := range f.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		local := path[strings.LastIndex(path, "/")+1:]
		if imp.Name != nil {
			local = imp.Name.Name
		}
		s.names[local] = path
	}
	return s
}

func (s source) say(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s: %s", s.fset.Position(n.Pos()), fmt.Sprintf(format, args...))
}

func (s source) hasPackageComment() bool { return s.file.Doc != nil }

// generated reports whether a program wrote this file, so that people do not read it.
func (s source) generated() bool {
	folder := filepath.Base(filepath.Dir(s.fset.File(s.file.FileStart).Name()))
	return ast.IsGenerated(s.file) && slices.Contains(written(), folder)
}

// checkHeader complains of files marked as generated, which linters and mutants then skip.
func (s source) checkHeader() []string {
	if ast.IsGenerated(s.file) && !s.generated() {
		return []string{s.say(s.file, "a program writes files only in %s", strings.Join(written(), ", "))}
	}
	return nil
}

func (s source) checkSizes() (complaints []string) {
	if s.generated() {
		return nil
	}
	file := s.fset.File(s.file.FileStart)
	if n := file.LineCount(); n > maxFileLines {
		complaints = append(complaints, fmt.Sprintf("%s: %d lines, at most %d", file.Name(), n, maxFileLines))
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > maxFuncLines {
			complaints = append(complaints, s.say(f, "func %s has %d lines, at most %d", f.Name, n, maxFuncLines))
		}
	}
	return complaints
}

func (s source) checkPurity() (complaints []string) {
	for local := range s.names {
		if local == "." {
			complaints = append(complaints, s.say(s.file, "a dot import hides where names come from"))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
			complaints = append(complaints, s.say(n, "concurrency in a pure package"))
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && x.Obj == nil && slices.Contains(impure()[s.names[x.Name]], n.Sel.Name) && s.names[x.Name] != "" {
				complaints = append(complaints, s.say(n, "%s.%s in a pure package", x.Name, n.Sel.Name))
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Obj == nil && slices.Contains(impure()[""], f.Name) {
				complaints = append(complaints, s.say(n, "%s in a pure package", f.Name))
			}
		}
		return true
	})
	return complaints
}

// written returns the folders with code that programs write: wire from api/, and factjson from the
// types of the facts. The generated code of wire has an init and package variables.
func written() []string { return []string{"wire", "factjson"} }

// checkDeclarations checks the declarations at the top level of a file.
func (s source) checkDeclarations(pure bool) (complaints []string) {
	if s.generated() {
		return nil
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			complaints = append(complaints, s.checkFunc(d)...)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				complaints = append(complaints, s.checkSpec(d, spec, pure)...)
			}
		}
	}
	return complaints
}

func (s source) checkFunc(d *ast.FuncDecl) (complaints []string) {
	if d.Recv == nil && d.Name.Name == "init" {
		complaints = append(complaints, s.say(d, "init runs before anyone asked"))
	}
	// The interfaces define what String, Error and Unwrap do.
	known := d.Recv != nil && slices.Contains([]string{"String", "Error", "Unwrap"}, d.Name.Name)
	if d.Name.IsExported() && d.Doc == nil && !known && exportedReceiver(d) {
		complaints = append(complaints, s.say(d, "func %s has no comment", d.Name))
	}
	return complaints
}

// exportedReceiver reports whether other packages can call a function or method.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		exported = exported || ok && id.IsExported()
		return !ok
	})
	return exported
}

func (s source) checkSpec(d *ast.GenDecl, spec ast.Spec, pure bool) (complaints []string) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
			complaints = append(complaints, s.say(spec, "type %s has no comment", spec.Name))
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				complaints = append(complaints, s.say(spec, "%s has no comment", name))
			}
		}
		if d.Tok == token.VAR && !s.constantInSpirit(d, spec, pure) {
			complaints = append(complaints, s.say(spec, "package variable %s could change; make it a function, a field or a constant", spec.Names[0]))
		}
	}
	return complaints
}

// constantInSpirit accepts package variables that are never assigned to: errors, embedded files,
// compile-time checks, and on the upper floors also compiled patterns and the version the linker
// writes.
func (s source) constantInSpirit(d *ast.GenDecl, spec *ast.ValueSpec, pure bool) bool {
	for _, doc := range []*ast.CommentGroup{d.Doc, spec.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	if len(spec.Names) != 1 {
		return false
	}
	if spec.Names[0].Name == "_" {
		return true
	}
	if !pure && spec.Names[0].Name == "version" {
		return true
	}
	if len(spec.Values) != 1 {
		return false
	}
	call, ok := spec.Values[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	switch s.callee(call) {
	case "errors.New":
		return true
	case "regexp.MustCompile":
		return !pure
	}
	return false
}

// callee returns the called function of another package, or "".
func (s source) callee(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return s.names[x.Name] + "." + sel.Sel.Name
}
