package workspace

import (
	"io/fs"
	"syscall"
	"time"
)

// statusTime returns the time of a file's last change of any kind, which programs cannot set.
func statusTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}

// names returns a file's number of hard links; zero if unknown.
func names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // the type is smaller on some machines
	}
	return 0
}
