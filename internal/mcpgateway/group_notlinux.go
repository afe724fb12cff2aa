//go:build unix && !linux

package mcpgateway

import "syscall"

// endWithUs can do nothing here: a server that outlives us sees the end of its
// input.
func endWithUs(*syscall.SysProcAttr) {}
