package mcpgateway

import "syscall"

// endWithUs makes the system kill a server when we are killed and cannot.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
