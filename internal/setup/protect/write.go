package protect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// maxLinks is how many links are followed, as many as the system follows.
const maxLinks = 40

// behind returns the file that links lead to; a dotfiles manager may have put them there. The file
// may not exist yet.
func behind(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("the links lead nowhere")
}

// readContent reads a settings file, if it is there.
func readContent(path string) (content, fs.FileMode, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, 0, nil
	case err != nil:
		return content{}, 0, err
	case !info.Mode().IsRegular():
		return content{}, 0, errors.New("it is not a plain file")
	}
	data, err := wholefile.Read(path, maxSettings)
	return content{true, data}, info.Mode().Perm(), err
}

// mayWrite returns why a file cannot be replaced. It is called before any file is.
func mayWrite(target string, mode fs.FileMode, there bool) error {
	if there && mode&0o200 == 0 {
		return &wrongFile{text: "it is read-only", hint: "chmod u+w " + shellWord(target)}
	}
	dir := filepath.Dir(target)
	for {
		_, err := os.Stat(dir)
		if err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	if !writable(dir) {
		return &wrongFile{text: "you may not write to " + dir, hint: "check whose it is; settings of the whole machine are root's"}
	}
	return nil
}

// lock keeps other processes from changing settings at the same time.
func lock(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another process is changing settings right now: %w", err), f.Close())
	}
	return func() error { return wholefile.Unlock(f) }, nil
}
