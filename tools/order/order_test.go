package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const tree = `package x

import (
	"context"
	"sync"
)

type box struct {
	mu sync.Mutex
	n  int
}

func (b *box) add(ctx context.Context, in <-chan int, done chan struct{}) {
	go func() {
		b.mu.Lock()
		b.n++
		b.mu.Unlock()
		close(done)
	}()
	select {
	case n := <-in:
		b.n = n
	case <-ctx.Done():
	}
	look(ctx)
	b.n = 2
}

func look(context.Context) {}
`

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Points are put where goroutines wait for each other, and the result is a valid program.
func TestWeave(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.org/x\n\ngo 1.26\n")
	path := write(t, dir, "x.go", tree)
	n, err := weave(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"b.mu.Lock()", "close(done)", "select {", "b.n = n", "look(ctx)", "b.n = 2", "b.mu.Unlock()",
	} {
		if !strings.Contains(string(data), "); "+want) {
			t.Errorf("no point before %q:\n%s", want, data)
		}
	}
	if strings.Contains(string(data), "); b.n++") || strings.Count(string(data), "orderPoint(") != n {
		t.Errorf("%d points:\n%s", n, data)
	}
	c := exec.CommandContext(t.Context(), "go", "build", "./...")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Files of other modules and test data are not changed.
func TestLeft(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"testdata", "other", ".cache", "wire"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "x.go", tree)
	}
	write(t, filepath.Join(dir, "other"), "go.mod", "module example.org/other\n")
	if n, err := weave(dir); n != 0 || err != nil {
		t.Errorf("%d points, %v", n, err)
	}
}
