//go:build unix

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the file it replaces. That matters only for root, who may
// write the files of other users.
func keepOwner(f *os.File, old string) error {
	if os.Geteuid() != 0 {
		return nil // a user owns the files that they write
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

// OpenSelf opens the file at a path without following a link there, and without waiting for the
// other end of a pipe.
func OpenSelf(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// Room returns how many bytes a file takes on its disk. Holes in a file take none.
func Room(info fs.FileInfo) int64 {
	if st, is := info.Sys().(*syscall.Stat_t); is {
		return min(info.Size(), st.Blocks*512)
	}
	return info.Size()
}
