package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxBytes keeps the program quick to start.
const maxBytes = 3_500_000

func TestThinProgramStaysThin(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/floodmark/floodmark/"
	ours := []string{module + "internal/hookframe", module + "internal/hookrun", module + "cmd/floodmark-hook"}
	for _, dep := range strings.Fields(string(out)) {
		outside := strings.Contains(strings.SplitN(dep, "/", 2)[0], ".") && !slices.Contains(ours, dep)
		if outside || dep == "net/http" || dep == "crypto/tls" {
			t.Errorf("it imports %s", dep)
		}
	}
	file := filepath.Join(t.TempDir(), "hook")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, ".")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxBytes {
		t.Errorf("%d bytes, at most %d", info.Size(), maxBytes)
	}
}
