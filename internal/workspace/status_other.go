//go:build !linux

package workspace

import (
	"io/fs"
	"time"
)

// statusTime is when a file was last changed, as far as that is known.
func statusTime(info fs.FileInfo) time.Time { return info.ModTime() }

// names is how many names a file has; zero: nobody knows.
func names(fs.FileInfo) uint64 { return 0 }
