package floodmark_test

import (
	"go/ast"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A test must wait for events, never for time, so that a slow machine gives the same result. The
// functions below find violations.

// systemFile matches the files of tests that need real programs. Such tests wait for events outside
// of the test. .ci/system names them.
var systemFile = regexp.MustCompile(`(^|_)system(_[a-z0-9]+)?_test\.go$`)

// clocks lists functions by which a test would depend on time, or start a program.
func clocks() map[string][]string {
	return map[string][]string{
		"time":    {"Sleep", "Now", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Since", "Until"},
		"runtime": {"Gosched"},
		"context": {"WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"},
		"os/exec": {"Command", "CommandContext"},
	}
}

// deadlines lists methods by which a test would depend on time.
func deadlines() []string { return []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"} }

// checkClocks complains of each use of a clock outside of synctest bubbles, because in a bubble
// time is not the machine's time. A literal given to synctest.Test runs in a bubble, and so does a
// function that calls synctest.Wait, which panics elsewhere.
func (s source) checkClocks() (complaints []string) {
	name := filepath.Base(s.fset.File(s.file.FileStart).Name())
	if !strings.HasSuffix(name, "_test.go") || systemFile.MatchString(name) {
		return nil
	}
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && s.waitsInBubble(f) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && s.callee(call) == "testing/synctest.Test" {
				return false
			}
			if sel, ok := n.(*ast.SelectorExpr); ok && s.isClock(sel) {
				complaints = append(complaints, s.say(n, "%s in a test: wait for an event, or use synctest", sel.Sel.Name))
			}
			return true
		})
	}
	return complaints
}

// isClock reports whether a name is in [clocks] or [deadlines].
func (s source) isClock(sel *ast.SelectorExpr) bool {
	x, ok := sel.X.(*ast.Ident)
	if ok && x.Obj == nil && s.names[x.Name] != "" {
		return slices.Contains(clocks()[s.names[x.Name]], sel.Sel.Name)
	}
	return slices.Contains(deadlines(), sel.Sel.Name)
}

// waitsInBubble reports whether a helper calls synctest.Wait, which panics outside of a bubble.
func (s source) waitsInBubble(f *ast.FuncDecl) (waits bool) {
	if f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
		return false
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		waits = waits || ok && s.callee(call) == "testing/synctest.Wait"
		return !waits
	})
	return waits
}

// tests lists the names of the tests in a file.
func (s source) tests() (names []string) {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}
