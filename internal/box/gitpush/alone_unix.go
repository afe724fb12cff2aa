//go:build unix

package gitpush

import (
	"os/exec"
	"syscall"
)

// alone runs a command in a session of its own, without a terminal to ask at. If the command's
// context ends, its whole process group is killed.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
