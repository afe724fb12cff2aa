package mcpstdio

import "syscall"

// endWithUs makes the system kill a server if the gateway is killed, and so cannot end it.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
