// Package wholefile keeps small files whole. They are read up to a limit, and replaced so that
// every reader sees either the old or the new content, also after a crash.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FreshSuffix is the suffix of a file that is being written. No agent reads files with this suffix.
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

// Replace replaces a file as a whole, and returns when the new content is on disk. If root replaces
// a file of another user, that user still owns it.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return ReplaceWhen(path, data, mode, func() {})
}

// ReplaceWhen is [Replace], but calls ready when the new file is complete beside the old one, under
// its name with [FreshSuffix].
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

// SyncFolder makes the names in a folder durable, so that a removed or replaced file does not come
// back after a power cut.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
