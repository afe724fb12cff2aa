package transcript

import (
	"os/exec"
	"strings"
	"testing"
)

// ourCommit returns the commit that was measured. It is only used for evidence.
func ourCommit(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
