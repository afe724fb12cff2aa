//go:build unix

package protect

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable reports whether we may make files in a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// lockFile locks a file until it is closed, or says that somebody else has.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// keepOwner gives a new file the owner of the one it replaces: root may write
// for others.
func keepOwner(f *os.File, old string) error {
	if os.Geteuid() != 0 {
		return nil // what one writes is one's own
	}
	info, err := os.Stat(old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s, is := info.Sys().(*syscall.Stat_t); is {
		return f.Chown(int(s.Uid), int(s.Gid))
	}
	return nil
}
