//go:build unix && !linux

package mcpstdio

import "syscall"

// endWithUs does nothing on these systems. A server that outlives the gateway sees the end of its
// input.
func endWithUs(*syscall.SysProcAttr) {}
