//go:build !unix

package mcpstdio

import "os/exec"

func ownGroup(*exec.Cmd) {}

func signalGroup(cmd *exec.Cmd, _ bool) {
	_ = cmd.Process.Kill() // it may be gone
}
