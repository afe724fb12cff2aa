package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"strings"
	"testing"
)

// TestAProgramNeedsFifteenLines counts what a user writes in main.
func TestAProgramNeedsFifteenLines(t *testing.T) {
	const most = 15
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "small/main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		main, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := files.Position(main.End()).Line - files.Position(main.Pos()).Line + 1
		if lines > most {
			t.Errorf("main has %d lines, want at most %d", lines, most)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "./small", t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "Nothing much") || !strings.Contains(string(out), "floodmark: web_fetch") || strings.Contains(string(out), "sent to") {
		t.Errorf("the page is read and its mail stopped, got\n%s", out)
	}
}
