//go:build unix

package witness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock locks the file, so that only one process writes. The system releases the lock when the
// process ends, however it ends.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("open the witness folder %s: another process writes to it; is a daemon running already? Each node needs a folder of its own", filepath.Dir(file.Name()))
	}
	if err != nil {
		return fmt.Errorf("lock the witness folder: %w", err)
	}
	return nil
}
