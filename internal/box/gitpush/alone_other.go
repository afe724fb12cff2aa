//go:build !unix

package gitpush

import "os/exec"

// alone does nothing, because the monitor does not run on this system.
func alone(*exec.Cmd) {}
