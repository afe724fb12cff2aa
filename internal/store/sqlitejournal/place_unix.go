//go:build unix

package sqlitejournal

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock that makes us the only process with this store. The
// kernel lets it go when the file is closed, however the process ends. The
// file stays: removing it would let two processes lock two files.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the journal: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		holder := make([]byte, 32)
		n, _ := f.ReadAt(holder, 0)
		pid := strings.TrimSpace(string(holder[:n]))
		return nil, errors.Join(fmt.Errorf("the journal %s is in use by process %s; stop it first", strings.TrimSuffix(path, ".lock"), pid), f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(fmt.Sprintln(os.Getpid())), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the journal: %w", err), f.Close())
	}
	return f, nil
}
