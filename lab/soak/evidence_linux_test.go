package soak

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commit returns the measured commit.
func commit(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// writeEvidence logs what was measured and, if -evidence is set, writes it: as one part of a file,
// or as all of it.
func writeEvidence(t *testing.T, name, part string, figures any) {
	t.Helper()
	if part != "" {
		whole := map[string]any{}
		data, err := os.ReadFile(filepath.Join(*evidence, name))
		if err == nil && *evidence != "" {
			err = json.Unmarshal(data, &whole)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		whole[part] = figures
		figures = whole
	}
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
