package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
)

// The journals in testdata were written by old programs, one for each form of the store. In each
// the session «monday» read a page and was stopped, and «quiet» only began. They are never written
// again. A new form adds a file.

// TestUpgradeKeepsTheJournal opens journals of older programs with this one.
func TestUpgradeKeepsTheJournal(t *testing.T) {
	for _, form := range []int{1, 2} {
		t.Run(fmt.Sprint("form ", form), func(t *testing.T) {
			dir := oldJournal(t, form)
			var out lockedBuffer
			runBeside(t, dirConsole(dir, &out), &out, []string{"serve", "--dir", dir})
			sessions := saysIn(t, dir, cli.ExitOK, "journal", "sessions", "--dir", dir)
			for _, want := range []string{"monday", "untrusted/internal", "quiet", "system/public"} {
				if !strings.Contains(sessions, want) {
					t.Errorf("there is no %q in\n%s", want, sessions)
				}
			}
			if got := saysIn(t, dir, cli.ExitOK, "why", "monday", "--dir", dir); !strings.Contains(got, "eve@evil.example") {
				t.Errorf("it no longer knows why:\n%s", got)
			}
			if got := saysIn(t, dir, cli.ExitOK, "journal", "verify", "--dir", dir); !strings.Contains(got, "2 sessions") {
				t.Errorf("it says\n%s", got)
			}
		})
	}
}

// TestDowngradeIsRefused opens a journal of a later program with this one.
func TestDowngradeIsRefused(t *testing.T) {
	dir := oldJournal(t, 2)
	path := filepath.Join(dir, "data", "journal.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const formByte = 63 // the last of the four bytes with the form in SQLite's header
	before[formByte]++
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	got := saysIn(t, dir, cli.ExitUsage, "serve", "--dir", dir)
	if !strings.Contains(got, "the store is of form 3, this program knows up to 2; use the newer program that wrote it") || strings.Count(strings.TrimSpace(got), "\n") > 1 {
		t.Errorf("it says\n%s", got)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the journal was changed: %v", err)
	}
}

func dirConsole(dir string, out io.Writer) *cli.Console {
	return &cli.Console{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: out, Dir: dir,
		Getenv: func(string) string { return "" }, Build: testBuild(), Shipped: shippedOnce,
	}
}

func saysIn(t *testing.T, dir string, code int, args ...string) string {
	t.Helper()
	var out lockedBuffer
	if got := run(context.WithoutCancel(t.Context()), dirConsole(dir, &out), args); got != code {
		t.Errorf("%v: exit %d, want %d\n%s", args, got, code, out.String())
	}
	return out.String()
}

// oldJournal unpacks the journal of a form into a new folder.
func oldJournal(t *testing.T, form int) string {
	t.Helper()
	dir := shortFolder(t)
	f, err := os.Open(filepath.Join("testdata", fmt.Sprintf("journal-form%d.tar.gz", form)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var data []byte
			if data, err = io.ReadAll(io.LimitReader(r, cli.MaxInput)); err == nil {
				err = os.WriteFile(path, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
