package mcpstdio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long to wait for a server that was told to end, before the signal and before the kill.
const (
	endByItself = 2 * time.Second
	endAsked    = 2 * time.Second
)

// maxDeaf is how long a server may leave a message unread.
const maxDeaf = 20 * time.Second

// A Command says how a server is started.
type Command struct {
	// Args are the program and its arguments. Env and Dir are its environment and folder; a nil Env
	// is ours.
	Args []string
	Env  []string
	Dir  string
	// Stderr gets the server's standard error, in plain lines.
	Stderr io.Writer
	// Skipped is called with lines that are no messages.
	Skipped func(string)

	// Patience is how long the server may leave a message unread; zero for maxDeaf. Tests set less.
	Patience time.Duration
}

// Start starts a server that speaks on its standard streams. Close ends the server and what it
// started in its own group: first by closing its input, then by a signal, at last by force. Close
// always waits for the server.
func Start(c Command) (mcp.Connection, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("start a server: no command was given")
	}
	cmd := exec.CommandContext(context.Background(), c.Args[0], c.Args[1:]...) //nolint:gosec // the owner's own command
	cmd.Env, cmd.Dir = c.Env, c.Dir
	flush := func() {}
	if c.Stderr != nil {
		said := newPlainLines(c.Stderr, time.Now)
		cmd.Stderr, flush = said, said.end
	}
	// A process that inherited its streams must not keep us from seeing its end.
	cmd.WaitDelay = endAsked
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	end := func() error {
		_ = in.Close() // it may have closed its side
		defer flush()
		return reap(cmd)
	}
	skipped := c.Skipped
	if skipped == nil {
		skipped = func(string) {}
	}
	return newLines(out, in, end, skipped, cmp.Or(c.Patience, maxDeaf)), nil
}

// reap waits for a server whose input is closed, and ends it if needed. However the server ended, it
// returns nil.
func reap(cmd *exec.Cmd) error {
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	within := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-gone:
			return true
		case <-timer.C:
			return false
		}
	}
	if !within(endByItself) {
		signalGroup(cmd, false)
		if !within(endAsked) {
			signalGroup(cmd, true)
		}
	}
	<-gone
	signalGroup(cmd, true) // what it left behind
	return nil
}
