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

// links returns the packages of a program. It fails the test for packages of web servers and
// encryption, whose setup would take longer than the program runs.
func links(t *testing.T, program string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	for _, dep := range []string{"net/http", "crypto/tls", "golang.org/x/net/publicsuffix"} {
		if slices.Contains(all, dep) {
			t.Errorf("%s imports %s", program, dep)
		}
	}
	return all
}

func TestThinProgramStaysThin(t *testing.T) {
	t.Parallel()
	links(t, "../floodmark-box") // it is started before every command
	const module = "github.com/floodmark/floodmark/"
	ours := []string{module + "internal/agents/hookframe", module + "internal/agents/hookrun", module + "cmd/floodmark-hook"}
	for _, dep := range links(t, ".") {
		if strings.Contains(strings.SplitN(dep, "/", 2)[0], ".") && !slices.Contains(ours, dep) {
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
