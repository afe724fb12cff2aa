// Package localsocket opens unix sockets with a mode that says which users reach them.
package localsocket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Listen opens a unix socket with a mode that says which users reach it. A socket that a dead daemon
// left behind is replaced. If a daemon answers at the socket, Listen returns an error.
func Listen(ctx context.Context, path string, mode os.FileMode) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, dirMode(mode)); err != nil {
		return nil, fmt.Errorf("make the folder of the socket: %w", err)
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if err := dropDead(ctx, path); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open the socket %s: %w", path, err)
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("guard the socket %s: %w", path, err), l.Close())
	}
	return l, nil
}

// dirMode returns the mode of the socket's folder. Users who may reach the socket may pass through
// the folder.
func dirMode(socket os.FileMode) os.FileMode {
	if socket&0o066 != 0 {
		return 0o755
	}
	return 0o700
}

// checkFolder refuses a folder in which other users could put a socket of their own.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of the socket: %w", err)
	}
	if ofSomebodyElse(info) {
		return fmt.Errorf("the folder %s belongs to another user: a socket there could be another program's (remove it, or set XDG_RUNTIME_DIR)", dir)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to the folder %s: a socket there could be another program's (chmod go-w %s)", dir, dir)
	}
	return nil
}

func dropDead(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s is there and is no socket: move it away", path)
	}
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", path)
	if err == nil {
		_ = c.Close() // only a probe
		return fmt.Errorf("another monitor answers on %s: stop it first (floodmark status shows it)", path)
	}
	return os.Remove(path)
}
