package boxwrites

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/store/swap"
)

// MoveIn moves the changes that were not refused into the project: all of them, or none. It follows
// no link there, not even one within the project. It replaces what is in the way of a folder or
// file, and keeps that in the folder of the box.
//
// One box of a project moves in at a time: the caller holds a lock from before [Writes.Changes]
// looked at the project.
func (w *Writes) MoveIn(list []Change) error {
	var steps []swap.Step
	for i := range list {
		c := &list[i]
		if c.Refused != "" {
			continue
		}
		step, err := w.step(c)
		if err != nil {
			return err
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		return nil
	}
	return w.Swap().Do(steps)
}

// step returns the step of a swap that makes a change.
func (w *Writes) step(c *Change) (swap.Step, error) {
	step := swap.Step{Path: c.Path, Do: swap.Take}
	if c.Kind == Gone {
		return step, nil
	}
	from := w.written(c.Path)
	info, err := os.Lstat(from)
	if err != nil {
		return step, err
	}
	switch {
	case c.Kind == Folder && info.IsDir():
		step.Do, step.Fresh, step.Left = swap.Make, c.fresh, swap.Of(info)
		return step, nil
	case c.Kind == File && info.Mode().IsRegular():
		for _, attribute := range []string{"user.overlay.origin", "user.overlay.impure"} {
			_ = unix.Lremovexattr(from, attribute)
		}
		if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			err = os.Chmod(from, info.Mode().Perm())
		}
	case c.Kind == Link && info.Mode()&fs.ModeSymlink != 0:
	default:
		return step, errors.New(c.Path + " cannot be moved in")
	}
	// Nothing can be moved out of a read-only folder. The folder's own mode was read before.
	if dir, unread := os.Lstat(filepath.Dir(from)); unread == nil && dir.Mode()&0o700 != 0o700 {
		err = errors.Join(err, os.Chmod(filepath.Dir(from), dir.Mode().Perm()|0o700))
	}
	step.Do, step.Left.SHA256 = swap.Put, c.SHA256
	if c.Path == ".git/index" {
		step.Left.Listed = swap.Listed(from)
	}
	rel, wrong := filepath.Rel(w.Folder, from)
	step.From = filepath.ToSlash(rel)
	return step, errors.Join(err, wrong)
}

// Pending reports whether moving in was begun and not finished: see [Writes.Resume].
func (w *Writes) Pending() bool { return w.Swap().Pending() }

// Resume finishes moving in if the box was killed meanwhile.
func (w *Writes) Resume() error { return w.Swap().Resume() }

// ResumeBeside finishes moving in for killed boxes of the same project whose folders are beside the
// given one. The caller holds the project's lock.
func ResumeBeside(folder, project string) error {
	list, err := filepath.Glob(filepath.Join(filepath.Dir(folder), "*", swapName+".plan"))
	if err != nil {
		return err
	}
	for _, p := range list {
		s := &swap.Swap{Root: project, Folder: filepath.Dir(p), Name: swapName}
		if plan, err := s.Plan(); err != nil || plan.Root != project {
			continue // of another project, or not ours to read
		}
		if err := s.Resume(); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes the note of when the command began.
func (w *Writes) Forget() { _ = os.Remove(w.began()) }

// Begin notes when the command began, by the clock of the disk.
func (w *Writes) Begin() error {
	if err := os.MkdirAll(w.Folder, 0o700); err != nil {
		return err
	}
	_ = os.Remove(w.began())
	return os.WriteFile(w.began(), nil, 0o600)
}

func (w *Writes) began() string { return filepath.Join(w.Folder, "began") }

// since returns when the command began; zero if that was not recorded.
func (w *Writes) since() time.Time { return changedAt(w.began()) }

// changedAt returns when a file was last changed in any way. Only the kernel sets this time.
func changedAt(p string) time.Time {
	var st unix.Stat_t
	if unix.Lstat(p, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}

// overtaken reports whether the file that a change would replace was changed in the project after
// the command began, so that the command cannot have known the new content.
func (w *Writes) overtaken(c *Change, from string, began time.Time) bool {
	p := filepath.Join(w.Project, c.Path)
	if began.IsZero() || !changedAt(p).After(began) && c.Kind != Gone && !c.fresh {
		return false
	}
	info, err := os.Lstat(p)
	switch {
	case err != nil:
		return false // nothing is replaced
	case info.IsDir() && c.Kind == Folder && !c.fresh:
		return false
	case info.IsDir():
		return anyAfter(p, began)
	}
	return changedAt(p).After(began) && !same(p, from)
}

// anyAfter reports whether something in a folder was changed after a time.
func anyAfter(folder string, at time.Time) bool {
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && changedAt(p).After(at) {
			return fs.ErrExist
		}
		return nil
	})
	return err != nil
}

// same reports whether two files have the same content, or two links the same target.
func same(p, q string) bool {
	if a, err := os.Readlink(p); err == nil {
		b, err := os.Readlink(q)
		return err == nil && a == b
	}
	a, _ := digest(p, maxHeld)
	b, _ := digest(q, maxHeld)
	return a != "" && a == b && !strings.EqualFold(p, q)
}
