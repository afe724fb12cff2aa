package workspace

import (
	"io/fs"
	"syscall"
	"time"
)

// statusTime is when a file was last changed in any way: a program cannot set it.
func statusTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
