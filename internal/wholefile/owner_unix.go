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

// OpenSelf opens what lies at a path itself: not what a link there leads to, and without
// waiting for whoever is at the other end of a pipe.
func OpenSelf(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// Room is what a file takes of its disk: holes in it take nothing.
func Room(info fs.FileInfo) int64 {
	if st, is := info.Sys().(*syscall.Stat_t); is {
		return min(info.Size(), st.Blocks*512)
	}
	return info.Size()
}
