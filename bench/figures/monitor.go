package figures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startWithin is how long a monitor may take to answer.
const startWithin = 20 * time.Second

// A Home is a folder of its own for one monitor and those who ask it.
type Home struct {
	Dir string
	Env []string
}

// NewHome makes one. Whoever has it removes it.
func NewHome() (Home, error) {
	// A socket's path must be short, and what lies below /tmp is nobody's own.
	home, err := os.UserHomeDir()
	if err != nil {
		return Home{}, err
	}
	dir, err := os.MkdirTemp(home, ".fm-bench-")
	if err != nil {
		return Home{}, err
	}
	return Home{Dir: dir, Env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}}, nil
}

// Remove takes it away.
func (h Home) Remove() error { return os.RemoveAll(h.Dir) }

// Monitor starts the real monitor with a policy, and returns what ends it.
func (h Home) Monitor(ctx context.Context, floodmark, policy string) (stop func(), err error) {
	path := filepath.Join(h.Dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, floodmark, "serve", "--policy", path)
	cmd.Env = h.Env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	socket := filepath.Join(h.Dir, ".local", "state", "floodmark", "run", "hook.sock")
	for began := time.Now(); time.Since(began) < startWithin; time.Sleep(20 * time.Millisecond) {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket); err == nil {
			return stop, conn.Close()
		}
	}
	stop()
	return nil, errors.Join(fmt.Errorf("no monitor after %s: %s", startWithin, said.String()), ctx.Err())
}
