//go:build unix

package protect

import (
	"os"

	"golang.org/x/sys/unix"
)

// writable reports whether we may make files in a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// lockFile locks a file until it is closed; it fails if another process holds the lock.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
