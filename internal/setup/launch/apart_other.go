//go:build !unix

package launch

import (
	"os"
	"syscall"
)

func apart() *syscall.SysProcAttr { return nil }

func terminate() os.Signal { return os.Interrupt }
