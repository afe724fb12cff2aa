package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

// ourCommit returns the commit of the project that was measured.
func ourCommit(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
