//go:build unix

package hookrun

import (
	"context"
	"os/exec"
	"syscall"
)

// The numbers of other files that an agent may have left open.
const firstOther, lastOther = 3, 1023

// detach starts a daemon that shares nothing with this process: no terminal, no process group, no
// open file. The daemon outlives this process.
func detach(program string, variables []string) error {
	for fd := firstOther; fd <= lastOther; fd++ {
		syscall.CloseOnExec(fd)
	}
	cmd := exec.CommandContext(context.Background(), program, "serve")
	cmd.Env, cmd.Dir = variables, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
