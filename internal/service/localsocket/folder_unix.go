//go:build unix

package localsocket

import (
	"io/fs"
	"os"
	"syscall"
)

// ofSomebodyElse reports whether a folder belongs to neither our user nor root.
func ofSomebodyElse(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) != os.Getuid() && owner.Uid != 0
}
