//go:build !linux

package workspace

import (
	"io/fs"
	"time"
)

// statusTime returns the time of the last change of a file's content, which programs can set; no
// other is known on this system.
func statusTime(info fs.FileInfo) time.Time { return info.ModTime() }

// names returns zero: the number of hard links is unknown.
func names(fs.FileInfo) uint64 { return 0 }
