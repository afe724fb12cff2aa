//go:build linux || darwin

package main

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// room is how many bytes still fit where a folder lies.
func room(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a block has a size
}

// ownerOf is the number of the user a file belongs to.
func ownerOf(info fs.FileInfo) (user int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), true
}
