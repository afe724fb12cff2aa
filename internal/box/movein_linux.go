package box

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MoveIn brings the changes that were not refused into the project. It follows no
// link there: whatever lies in the way of a folder or file is replaced by it. It
// first writes down what it is about to do: if this process is killed on the way,
// [Spec.Resume] does the rest.
func (s *Spec) MoveIn(list []Change) error {
	m := moving{}
	for _, c := range list {
		if c.Refused == "" {
			m.Changes = append(m.Changes, c)
			m.Fresh = append(m.Fresh, c.fresh)
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.plan()+".new", data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(s.plan()+".new", s.plan()); err != nil {
		return err
	}
	return s.Resume()
}

// A moving is what is about to be moved in. How much of it was is the number in
// the file beside it.
type moving struct {
	Changes []Change `json:"changes"`
	Fresh   []bool   `json:"fresh"`
}

func (s *Spec) plan() string { return filepath.Join(s.Folder, "moving") }
func (s *Spec) done() string { return filepath.Join(s.Folder, "moved") }

// Resume finishes moving in what a box that was killed began to, if there is
// something.
func (s *Spec) Resume() error {
	data, err := os.ReadFile(s.plan())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var m moving
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%s cannot be read: %w", s.plan(), err)
	}
	if len(m.Fresh) != len(m.Changes) {
		return fmt.Errorf("%s cannot be read: it is not whole", s.plan())
	}
	to, err := os.OpenRoot(s.Project)
	if err != nil {
		return err
	}
	defer to.Close()
	count, err := os.OpenFile(s.done(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer count.Close()
	var mark [8]byte
	_, _ = count.ReadAt(mark[:], 0) // nothing there: nothing is done
	for i := binary.LittleEndian.Uint64(mark[:]); i < uint64(len(m.Changes)); i++ {
		c := &m.Changes[i]
		c.fresh = m.Fresh[i]
		if err := s.bring(to, c); err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		binary.LittleEndian.PutUint64(mark[:], i+1)
		if _, err := count.WriteAt(mark[:], 0); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(s.plan()), os.Remove(s.done()))
}

func (s *Spec) bring(to *os.Root, c *Change) error {
	from := s.written(c.Path)
	switch c.Kind {
	case Gone:
		return to.RemoveAll(c.Path)
	case Folder:
		return bringFolder(to, from, c)
	case Link:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := to.RemoveAll(c.Path); err != nil {
			return err
		}
		return to.Symlink(target, c.Path)
	case File:
		return bringFile(to, from, c.Path)
	case Other:
	}
	return errors.New("it cannot be moved in")
}

func bringFolder(to *os.Root, from string, c *Change) error {
	if info, err := to.Lstat(c.Path); err == nil && (c.fresh || !info.IsDir()) {
		if err := to.RemoveAll(c.Path); err != nil {
			return err
		}
	}
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := to.Mkdir(c.Path, info.Mode().Perm()); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// bringFile puts a file in its place at once, so that nobody reads half of it.
func bringFile(to *os.Root, from, at string) error {
	if info, err := to.Lstat(at); err == nil && info.IsDir() {
		if err := to.RemoveAll(at); err != nil {
			return err
		}
	}
	for _, name := range []string{"user.overlay.origin", "user.overlay.impure"} {
		_ = unix.Lremovexattr(from, name)
	}
	if info, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		_, err := to.Lstat(at) // it was moved, and that was not written down any more
		return err
	} else if err != nil {
		return err
	} else if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		if err := os.Chmod(from, info.Mode().Perm()); err != nil {
			return err
		}
	}
	folder, err := to.Open(path.Dir(at)) // follows no link out of the project
	if err != nil {
		return err
	}
	defer folder.Close()
	err = unix.Renameat(unix.AT_FDCWD, from, int(folder.Fd()), path.Base(at))
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	return copyFile(to, from, at)
}

func copyFile(to *os.Root, from, at string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	half := path.Join(path.Dir(at), ".floodmark-"+path.Base(at))
	_ = to.Remove(half) // of a process that was killed
	dst, err := to.OpenFile(half, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = to.Remove(half)
		}
	}()
	if _, err = dst.ReadFrom(src); err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if err = to.Chtimes(half, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return to.Rename(half, at)
}
