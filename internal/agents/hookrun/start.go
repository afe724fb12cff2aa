package hookrun

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// A daemon decides by the policy in its home folder. A project can set an agent's environment
// variables, so they are not used to start a daemon. A daemon is only ever started for the
// account's own home folder, as in the system's list of users, at the account's usual socket, from
// the program beside this one, and with none of the agent's variables.

// A starter holds what is needed to start a daemon.
type starter struct {
	uid        int
	home       func() (string, error) // the account's home folder, not from a variable
	executable func() (string, error) // this program
}

func thisProcess() *starter {
	return &starter{uid: os.Getuid(), executable: os.Executable, home: func() (string, error) { return homeOf(os.Getuid()) }}
}

// homeOf returns the home folder of an account from the system's list of users. Package user would
// use variables for an account that is missing in the file, so it is used only on macOS, where it
// asks the system.
func homeOf(uid int) (string, error) {
	if runtime.GOOS == "darwin" {
		u, err := user.LookupId(strconv.Itoa(uid))
		if err != nil {
			return "", err
		}
		return u.HomeDir, nil
	}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return homeIn(f, uid)
}

// maxUsers bounds how much of the list of users is read.
const maxUsers = 16 << 20 // bytes

// homeIn looks an account up in lines of name:password:uid:gid:about:home:shell.
func homeIn(users io.Reader, uid int) (string, error) {
	lines := bufio.NewScanner(io.LimitReader(users, maxUsers))
	for lines.Scan() {
		field := strings.Split(lines.Text(), ":")
		if len(field) == 7 && field[0] != "" && !strings.ContainsAny(field[0][:1], "#+-") && field[2] == strconv.Itoa(uid) {
			return field[5], nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", errors.New("it is not in the list of users")
}

// nobodyListens reports whether an error means that a socket has no listener or does not exist.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// Wake makes sure that a monitor's socket has a listener: if it has none, it starts the daemon as a
// hook would. It waits as long as a hook does.
func Wake(ctx context.Context, path string, env func(string) string) error {
	ctx, cancel := context.WithTimeout(ctx, usualDeadline)
	defer cancel()
	conn, err := dial(ctx, path)
	if err != nil && nobodyListens(err) {
		conn, err = thisProcess().start(ctx, path, env)
	}
	if err != nil {
		return fmt.Errorf("no daemon answers at %s (%w); start it with «floodmark serve»", path, err)
	}
	return conn.Close()
}

// lookEvery is how often the daemon is polled. leaveToAsk is how much of the deadline is left for
// asking it.
const (
	lookEvery  = 5 * time.Millisecond
	leaveToAsk = time.Second
)

// start starts the daemon for path and returns a connection to it. If several hooks do so at once,
// the lock of the store lets only one daemon continue, and all hooks connect to it.
func (s *starter) start(ctx context.Context, path string, env func(string) string) (net.Conn, error) {
	variables, err := s.variables(path, env)
	if err != nil {
		return nil, err
	}
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	if err := detach(program, variables); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return wait(ctx, path)
}

// variables returns the daemon's environment, or an error if path is not the account's own socket.
func (s *starter) variables(path string, env func(string) string) ([]string, error) {
	home, err := s.home()
	if err != nil || !filepath.IsAbs(home) {
		return nil, fmt.Errorf("no monitor listens, and the home folder of this account is not known: %w", err)
	}
	for name, usual := range map[string]string{
		"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state",
	} {
		if v := env(name); filepath.IsAbs(v) && filepath.Clean(v) != filepath.Join(home, usual) {
			return nil, fmt.Errorf("no monitor listens, and %s is set, so that only you know which monitor is meant", name)
		}
	}
	for _, own := range [][]string{
		{"HOME=" + home, "XDG_RUNTIME_DIR=/run/user/" + strconv.Itoa(s.uid)},
		{"HOME=" + home},
	} {
		if at, err := hookframe.SocketPath(lookIn(own)); err == nil && at == path {
			return append(own, "PATH=/usr/local/bin:/usr/bin:/bin"), nil
		}
	}
	return nil, errors.New("no monitor listens, and this is not the usual place of this account")
}

// lookIn returns a function that looks variables up in a list.
func lookIn(list []string) func(string) string {
	return func(name string) string {
		for _, v := range list {
			if rest := len(name) + 1; len(v) > rest && v[:rest] == name+"=" {
				return v[rest:]
			}
		}
		return ""
	}
}

// daemonName is the program beside this one that runs the daemon.
const daemonName = "floodmark"

// program returns the daemon's path in this program's own folder. PATH is not used.
func (s *starter) program() (string, error) {
	self, err := s.executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("no monitor listens, and it is not known where this program lies: %w", err)
	}
	file := filepath.Join(filepath.Dir(self), daemonName)
	info, err := os.Stat(file)
	switch {
	case err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("no monitor listens, and there is no %s to start", file)
	case info.Mode().Perm()&0o022 != 0:
		return "", fmt.Errorf("no monitor listens, and others may write to %s", file)
	}
	return file, nil
}

// wait waits until the socket has a listener. It stops early enough that there is time to ask.
func wait(ctx context.Context, path string) (net.Conn, error) {
	until, _ := ctx.Deadline()
	ctx, cancel := context.WithDeadline(ctx, until.Add(-min(leaveToAsk, time.Until(until)/2)))
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		conn, err := dial(ctx, path)
		if err == nil || !nobodyListens(err) {
			return conn, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.New("it was started and did not answer in time")
		}
	}
}
