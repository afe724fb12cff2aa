// Package peertest has a table of processes for tests that depend on who started which process.
package peertest

import (
	"fmt"
	"testing"

	"github.com/floodmark/floodmark/internal/agents/peer"
)

// A Tree is a table of processes that a test adds and removes.
type Tree map[int]peer.Info

// Agents returns a tree with pi as process 20, which reports by itself, below a terminal, process 5.
func Agents() Tree {
	f := Tree{}
	f.Plant(1, 0, 0, "systemd")
	f.Plant(5, 1, 1, "bash", "bash")
	f.Plant(20, 5, 200, "pi", "pi")
	return f
}

// Look implements [peer.Table].
func (f Tree) Look(pid int) (peer.Info, error) {
	p, ok := f[pid]
	if !ok {
		return peer.Info{}, fmt.Errorf("%w: %d", peer.ErrUnknown, pid)
	}
	return p, nil
}

// Plant adds a process.
func (f Tree) Plant(pid, parent int, start uint64, name string, command ...string) {
	f[pid] = peer.Info{Process: peer.Process{PID: pid, Start: start}, Parent: parent, Name: name, Command: command}
}

// Codex adds Codex below a process, as npm installs it, and returns its hook.
func (f Tree) Codex(pid, parent int) (hook int) {
	f.Plant(pid, parent, uint64(pid)*10, "node", "node", "/usr/bin/codex", "exec")
	f.Plant(pid+1, pid, uint64(pid)*10, "codex", "codex", "exec")
	f.Plant(pid+2, pid+1, uint64(pid)*10+1, "sh", "sh", "-c", "x")
	f.Plant(pid+3, pid+2, uint64(pid)*10+1, "floodmark-hook")
	return pid + 3
}

// Shell adds the shell that a tool of an agent runs.
func (f Tree) Shell(pid, parent int) int {
	f.Plant(pid, parent, uint64(pid)*10, "bash", "bash", "-c", "y")
	return pid
}

// Trace returns a process with its ancestors.
func (f Tree) Trace(t testing.TB, pid int) peer.Peer {
	t.Helper()
	p, err := peer.Trace(f, pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
