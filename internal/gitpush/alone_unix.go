//go:build unix

package gitpush

import (
	"os/exec"
	"syscall"
)

// alone gives a command no terminal to ask at, and ends all that it started when it ends.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
