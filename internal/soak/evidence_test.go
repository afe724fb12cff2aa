package soak

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commit names what was measured.
func commit(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// writeEvidence logs what was measured, and keeps it if that was asked for.
func writeEvidence(t *testing.T, name string, figures any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(figures); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", b.Bytes())
	if *evidence == "" || t.Failed() {
		return
	}
	if err := os.WriteFile(filepath.Join(*evidence, name), b.Bytes(), 0o644); err != nil { //nolint:gosec // it is published
		t.Fatal(err)
	}
}
