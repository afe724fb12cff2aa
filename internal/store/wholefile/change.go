package wholefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A ShownError says that a file is not private: other users can read it, or it is no plain file.
type ShownError struct {
	Path string
	Mode fs.FileMode
}

func (e *ShownError) Error() string {
	return fmt.Sprintf("others can read %s (mode %v)", e.Path, e.Mode)
}

// ReadOwn reads a file of at most limit bytes that only its owner may read. It returns a
// [ShownError] if other users can read the file or if it is no plain file.
func ReadOwn(path string, limit int64) ([]byte, error) {
	for try := 0; ; try++ {
		data, replaced, err := readOwn(path, limit)
		if !replaced || try == maxReplaced {
			return data, err
		}
	}
}

// maxReplaced bounds how often ReadOwn starts again because the file was replaced while it was
// being opened. [Replace] does that, and an attacker could do it for ever.
const maxReplaced = 100

// readOwn also reports whether another file was put at the path between looking at it and opening
// it.
func readOwn(path string, limit int64) (data []byte, replaced bool, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, false, &ShownError{Path: path, Mode: info.Mode()}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) || opened.Mode() != info.Mode() {
		return nil, err == nil, errors.Join(err, &ShownError{Path: path, Mode: info.Mode()})
	}
	data, err = readAll(f, limit)
	return data, false, err
}

// Change replaces a file by what with returns, under a lock that keeps other processes from
// changing the file at the same time. It waits at most wait for the lock. what names the content of
// the file in errors. Errors of with are returned unchanged. If with returns nil without an error, the
// file is removed.
func Change(ctx context.Context, path, what string, wait time.Duration, with func() ([]byte, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	free, err := Lock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	defer func() { err = errors.Join(err, free()) }()
	data, err := with()
	if err != nil {
		return err
	}
	if data == nil {
		err = Remove(path)
	} else {
		err = Replace(path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// Remove removes a file for good: it does not come back after a power cut.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}
