package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
)

// TestManual writes the manual as the builder of a package does. There must be a page for each
// command that help shows, with the same bytes each time.
func TestManual(t *testing.T) {
	first, second := writtenManual(t), writtenManual(t)
	want := 0
	walk(newRoot(&cli.Console{}), func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return
		}
		want++
		name := manName(cmd) + ".1.gz"
		if len(first[name]) == 0 || !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s: %d bytes, then %d", name, len(first[name]), len(second[name]))
			return
		}
		text := unpacked(t, first[name])
		if !strings.Contains(text, "\n.SH USAGE\n") || !strings.Contains(text, "\n.SH EXIT CODES\n") {
			t.Errorf("%s does not say how it is used:\n%s", name, text)
		}
	})
	if len(first) != want+1 || len(first["floodmark-serve.1.gz"]) == 0 || want < 30 {
		t.Errorf("%d pages for %d commands", len(first), want)
	}
}

func writtenManual(t *testing.T) map[string][]byte {
	t.Helper()
	var said bytes.Buffer
	c := &cli.Console{Stdout: &said, Stderr: &said, Dir: t.TempDir(), Getenv: func(string) string { return "" }}
	if code := run(t.Context(), c, []string{"dev", "man", "man1"}); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	entries, err := os.ReadDir(filepath.Join(c.Dir, "man1"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]byte{}
	for _, e := range entries {
		if pages[e.Name()], err = os.ReadFile(filepath.Join(c.Dir, "man1", e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return pages
}

func unpacked(t *testing.T, data []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// No text may become a command of the formatter.
func TestRoffIsText(t *testing.T) {
	for text, want := range map[string]string{
		".so /etc/passwd": `\&.so /etc/passwd`,
		"'br":             `\&'br`,
		"a\n.b":           "a\n\\&.b",
		`\n(.x`:           `\en(.x`,
		"--dir":           `\-\-dir`,
		"plain. text":     "plain. text",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// On Windows the error names WSL, with which Floodmark works.
func TestWindowsIsRefused(t *testing.T) {
	if text := notHere("windows"); !strings.Contains(text, "WSL") || strings.Contains(text, "\n") {
		t.Errorf("it says %q", text)
	}
	for _, system := range []string{"linux", "darwin"} {
		if text := notHere(system); text != "" {
			t.Errorf("%s is refused: %s", system, text)
		}
	}
}
