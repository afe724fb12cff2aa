package figures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// startWithin is how long a monitor may take to answer.
const startWithin = 20 * time.Second

// A Home is a folder for one monitor and its clients.
type Home struct {
	Dir string
	Env []string
}

// NewHome makes a home. The caller removes it.
func NewHome() (Home, error) {
	// A socket's path must be short, and folders below /tmp are not treated as the owner's.
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

// Remove removes the home.
func (h Home) Remove() error { return os.RemoveAll(h.Dir) }

// A Monitor is a running monitor.
type Monitor struct{ cmd *exec.Cmd }

// Stop kills it.
func (m Monitor) Stop() { _ = m.cmd.Process.Kill(); _ = m.cmd.Wait() }

// End asks it to end and waits, as at a shutdown.
func (m Monitor) End() error {
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return m.cmd.Wait()
}

// Resident returns the memory it uses, in bytes.
func (m Monitor) Resident() (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", m.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	var all, resident int64
	_, err = fmt.Sscan(string(data), &all, &resident)
	return resident * int64(os.Getpagesize()), err
}

// Monitor starts the real monitor with a policy.
func (h Home) Monitor(ctx context.Context, floodmark, policy string) (m Monitor, err error) {
	path := filepath.Join(h.Dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		return m, err
	}
	m.cmd = exec.CommandContext(ctx, floodmark, "serve", "--policy", path)
	m.cmd.Env = h.Env
	var said bytes.Buffer
	m.cmd.Stdout, m.cmd.Stderr = &said, &said
	if err := m.cmd.Start(); err != nil {
		return m, err
	}
	socket := filepath.Join(h.Dir, ".local", "state", "floodmark", "run", "hook.sock")
	for began := time.Now(); time.Since(began) < startWithin; time.Sleep(20 * time.Millisecond) {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket); err == nil {
			return m, conn.Close()
		}
	}
	m.Stop()
	return m, errors.Join(fmt.Errorf("no monitor after %s: %s", startWithin, said.String()), ctx.Err())
}

// Kept returns how much monitors have stored on disk below a home, in bytes.
func (h Home) Kept() (n int64, err error) {
	err = filepath.WalkDir(filepath.Join(h.Dir, ".local"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
