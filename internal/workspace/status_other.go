//go:build !linux

package workspace

import (
	"io/fs"
	"time"
)

// statusTime is the time of a file's last change, as far as known.
func statusTime(info fs.FileInfo) time.Time { return info.ModTime() }

// names returns zero: the number of hard links is unknown.
func names(fs.FileInfo) uint64 { return 0 }
