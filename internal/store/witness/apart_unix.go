//go:build unix

package witness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	writableByGroup  = 0o020
	writableByOthers = 0o002
)

// Apart reports whether the user with this number can change nothing in the folder: the user owns
// neither the folder, nor one of its files, nor a folder above it, and none of them is writable by
// a group or by others. If that user writes the journal, the checkpoints also reveal that the user
// rewrote it, and not only damage. Access control lists are not checked.
func Apart(dir string, uid int) (bool, error) {
	if uid == 0 {
		return false, nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false, fmt.Errorf("look at the witness folder: %w", err)
	}
	for _, name := range []string{"", headsFile, newestFile, notesFile} {
		info, err := os.Lstat(filepath.Join(path, name))
		if errors.Is(err, fs.ErrNotExist) && name != "" {
			continue
		}
		if err != nil {
			return false, err
		}
		if reaches(info, uid, false) {
			return false, nil
		}
	}
	for path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err := os.Lstat(path)
		if err != nil {
			return false, err
		}
		if reaches(info, uid, true) {
			return false, nil
		}
	}
	return true, nil
}

// reaches reports whether the user may be able to change the file or folder of info. If above is
// set, it is a folder above the witness; if such a folder is sticky, as /tmp is, a user can move
// only their own files in it.
func reaches(info fs.FileInfo, uid int, above bool) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == uid {
		return true
	}
	open := info.Mode().Perm()&(writableByGroup|writableByOthers) != 0
	return open && (!above || info.Mode()&fs.ModeSticky == 0)
}
