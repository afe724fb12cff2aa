package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/embedded"
)

func TestTheInjectedPageIsStopped(t *testing.T) {
	outbox = nil
	g, err := embedded.Open(t.TempDir(), policy)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var out bytes.Buffer
	if err := agent(t.Context(), g, &out); err != nil {
		t.Fatal(err)
	}
	if want := []string{"anna@firm.example"}; !slices.Equal(outbox, want) {
		t.Errorf("mail went to %v, want %v", outbox, want)
	}
	for _, want := range []string{
		"web_fetch: " + page, "read_notes: " + notes, "send_email: sent to anna@firm.example",
		`send_email: floodmark: web_fetch news.example (untrusted)`, "(informed by 1 untrusted web page; blocked: send_email)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestAClosedGuardRefuses(t *testing.T) {
	outbox = nil
	g, err := embedded.Open(t.TempDir(), policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := agent(t.Context(), g, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "floodmark: ") {
		t.Errorf("a closed guard let the agent begin: %v", err)
	}
	if len(outbox) > 0 || time.Since(began) > 20*time.Second {
		t.Errorf("mail went to %v after %s", outbox, time.Since(began))
	}
}

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
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "Nothing much") || !strings.Contains(string(out), "floodmark: web_fetch") || strings.Contains(string(out), "sent to") {
		t.Errorf("the page is read and its mail stopped, got\n%s", out)
	}
}
