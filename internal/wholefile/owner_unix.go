//go:build unix

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

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
