//go:build !unix

package gitpush

import "os/exec"

// alone does nothing: no monitor runs here.
func alone(*exec.Cmd) {}
