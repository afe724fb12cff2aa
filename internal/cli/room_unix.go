//go:build linux || darwin

package cli

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Room returns how many bytes are free on the disk of a folder.
func Room(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a block size is never negative
}

// OwnerOf returns the number of the user who owns a file.
func OwnerOf(info fs.FileInfo) (user int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), true
}
