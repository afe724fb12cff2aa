//go:build unix

package hookrun

import (
	"context"
	"os/exec"
	"syscall"
)

// The files besides standard input and output that an agent may have left open
// to us.
const firstOther, lastOther = 3, 1023

// detach starts a daemon that has nothing of this process: no terminal, no
// group, no open file. It lives on when we end.
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
