// Package wholefile keeps small files whole: they are read up to a limit, and
// replaced so that whoever looks, also after a crash, sees the old or the new one.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FreshSuffix is that of a file being written. No agent reads files that end so.
const FreshSuffix = ".floodmark-new"

// Read reads a file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

func readAll(f io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("larger than %d bytes", limit)
	}
	return data, err
}

// Replace writes a file as a whole, and returns when it is on disk. What root
// replaces stays its owner's.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return ReplaceWhen(path, data, mode, func() {})
}

// ReplaceWhen does so, and calls ready when the new file lies beside the old one,
// whole, under its name with [FreshSuffix].
func ReplaceWhen(path string, data []byte, mode fs.FileMode, ready func()) error {
	fresh := path + FreshSuffix
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), keepOwner(f, path), f.Sync(), f.Close())
	if err == nil {
		ready()
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes the names in a folder durable: what was removed or replaced
// must not come back after a power cut.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
