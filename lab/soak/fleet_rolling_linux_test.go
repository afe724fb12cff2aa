package soak

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// rolling returns an upgrade as the guide describes it. First the newer program upgrades the tables
// while the older one works, and then node after node gets the newer program. In between both
// programs answer for the same sessions.
func rolling(newer string) drill {
	return drill{"rolling", func(f *fleet, _ int) func() {
		f.upgradeTables(newer)
		for _, n := range f.nodes {
			time.Sleep(*fleetCalm)
			n.stop()
			place(f.t, newer, filepath.Join(n.dir, "bin", "floodmark"))
			n.start()
			f.allReady()
		}
		return func() {}
	}}
}

// upgradeTables runs «floodmark journal init» of a program.
func (f *fleet) upgradeTables(program string) {
	f.t.Helper()
	dir := f.prepare("init")
	place(f.t, program, filepath.Join(dir, "bin", "floodmark"))
	see := f.seen()
	out, err := f.inside(dir, filepath.Join(see, "bin", "floodmark"), "journal", "init", "--dir", see, "--journal", f.cluster.dsn(nil)).CombinedOutput()
	if err != nil {
		f.t.Fatalf("journal init: %v\n%s", err, tail(string(out)))
	}
}

// buildOlder builds the program of an earlier commit, in a folder of its own.
func buildOlder(t *testing.T, commit string) string {
	t.Helper()
	dir := folder(t)
	script := `git -C "$(git rev-parse --show-toplevel)" archive "$1" | tar -x -C "$2" && cd "$2" && go build -trimpath -buildvcs=false -tags faults -o "$2/older" ./cmd/floodmark`
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script, "bash", commit, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", commit, err, tail(string(out)))
	}
	return filepath.Join(dir, "older")
}
