//go:build !linux

package workspace

import (
	"io/fs"
	"time"
)

// statusTime is when a file was last changed, as far as that is known.
func statusTime(info fs.FileInfo) time.Time { return info.ModTime() }

// names returns zero: the number of hard links is unknown.
func names(fs.FileInfo) uint64 { return 0 }
