//go:build unix

package launch

import (
	"os"
	"syscall"
)

// apart starts a process in a session of its own: it has no terminal, and closing a terminal does
// not end it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end.
func terminate() os.Signal { return syscall.SIGTERM }
