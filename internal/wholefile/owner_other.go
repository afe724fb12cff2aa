//go:build !unix

package wholefile

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to keep: files have no such owners here.
func keepOwner(*os.File, string) error { return nil }

// OpenSelf opens nothing: no monitor runs here.
func OpenSelf(string) (*os.File, error) { return nil, errSystem }

// Room is what a file takes of its disk.
func Room(info fs.FileInfo) int64 { return info.Size() }
