//go:build unix

package wholefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Unlock releases the lock on a file and closes the file. Closing alone is not enough, because a
// program that is just being started has a copy of every open file for a moment.
func Unlock(f *os.File) error {
	return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}

// tryLock locks a file until it is closed, or reports false if another process has locked it. The
// system releases the lock when the process ends for any reason.
func tryLock(f *os.File) (taken bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
