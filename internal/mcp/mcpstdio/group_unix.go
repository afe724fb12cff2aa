//go:build unix

package mcpstdio

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a server the first of a group, so that all it starts can be reached together.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
}

// signalGroup asks a server's group to end, or kills it.
func signalGroup(cmd *exec.Cmd, force bool) {
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-cmd.Process.Pid, sig) // it may be gone
}
