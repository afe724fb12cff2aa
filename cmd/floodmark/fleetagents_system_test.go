package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/setup"
)

// The monitor of a laptop that joined reports its agents to the fleet without starting any of them.
// An agent could have put the program there, and a child of the monitor would not be treated as an
// agent.
func TestTellingOfAgentsStartsNone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	bin, mark := filepath.Join(home, "bin"), filepath.Join(home, "started")
	script := "#!/bin/sh\necho started >" + mark + "\necho codex-cli 1.2.3\n"
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "codex"), []byte(script), 0o700)); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "PATH": bin}
	c := &cli.Console{Stdout: io.Discard, Stderr: io.Discard, Dir: home, Getenv: func(name string) string { return env[name] }}
	p := cli.Place{Dir: filepath.Join(home, "monitor")}
	list := setup.FleetAgents(c, p)(t.Context())
	if len(list) != 1 || list[0].GetName() != "codex" {
		t.Errorf("%v", list)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an agent's program was started")
	}
	// For a person at a terminal the program is started, so its version is shown.
	if found, err := setup.Agents(t.Context(), c, p); err != nil || len(found) != 1 || found[0].Version != "1.2.3" {
		t.Errorf("%v, %v", found, err)
	}
}
