package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestManualIsReadByMan formats a page with groff, if it is installed.
func TestManualIsReadByMan(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff; TestManual checks the pages themselves")
	}
	cmd := exec.CommandContext(t.Context(), tool, "-man", "-Tutf8", "-ww")
	cmd.Stdin = strings.NewReader(unpacked(t, writtenManual(t)["floodmark-serve.1.gz"]))
	var said bytes.Buffer
	cmd.Stderr = &said
	if out, err := cmd.Output(); err != nil || said.Len() > 0 || !bytes.Contains(out, []byte("floodmark serve")) {
		t.Errorf("%v: %s\n%s", err, said.String(), out)
	}
}
