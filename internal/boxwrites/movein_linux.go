package boxwrites

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MoveIn brings the changes that were not refused into the project. It follows no
// link there, not even one inside of the project: whatever lies in the way of a
// folder or file is replaced by it. It first writes down what it is about to do: if
// this process is killed on the way, [Writes.Resume] does the rest.
//
// One box of a project moves in at a time: the caller holds a lock from before
// [Writes.Changes] looked at the project.
func (w *Writes) MoveIn(list []Change) error {
	half := make([]byte, 8)
	_, _ = rand.Read(half) // never fails
	m := moving{Half: ".floodmark-" + hex.EncodeToString(half)}
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
	if err := os.WriteFile(w.plan()+".new", data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(w.plan()+".new", w.plan()); err != nil {
		return err
	}
	return w.Resume()
}

// A moving is what is about to be moved in. How much of it was is the number in
// the file beside it.
type moving struct {
	Changes []Change `json:"changes"`
	Fresh   []bool   `json:"fresh"`
	Half    string   `json:"half"` // the name of a file until it is whole
}

func (w *Writes) plan() string { return filepath.Join(w.Folder, "moving") }
func (w *Writes) done() string { return filepath.Join(w.Folder, "moved") }

// Pending reports whether there is something to be finished: see [Writes.Resume].
func (w *Writes) Pending() bool {
	_, err := os.Lstat(w.plan())
	return err == nil
}

// Resume finishes moving in what a box that was killed began to, if there is
// something. A change that cannot be made is left out and told of: it would fail
// the next time as well.
func (w *Writes) Resume() error {
	data, err := os.ReadFile(w.plan())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var m moving
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%s cannot be read: %w", w.plan(), err)
	}
	if len(m.Fresh) != len(m.Changes) || !strings.HasPrefix(m.Half, ".floodmark-") || strings.Contains(m.Half, "/") {
		return fmt.Errorf("%s cannot be read: it is not whole", w.plan())
	}
	to, err := openGround(w.Project, m.Half)
	if err != nil {
		return err
	}
	defer to.Close()
	failed, err := w.bringAll(to, &m)
	if err != nil {
		return err
	}
	return errors.Join(failed, os.Remove(w.plan()), os.Remove(w.done()))
}

// maxFailed is how many changes that failed are told of.
const maxFailed = 3

// bringAll makes the changes that are not made yet, and says which of them failed.
func (w *Writes) bringAll(to *ground, m *moving) (failed, err error) {
	count, err := os.OpenFile(w.done(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer count.Close()
	var mark [8]byte
	_, _ = count.ReadAt(mark[:], 0) // nothing there: nothing is done
	var list []error
	torn := false // a change of the repository failed: those that rest on it are not made
	for i := binary.LittleEndian.Uint64(mark[:]); i < uint64(len(m.Changes)); i++ {
		c := &m.Changes[i]
		c.fresh = m.Fresh[i]
		git := strings.HasPrefix(c.Path, ".git/")
		if !git || !torn {
			if err := w.bring(to, c); err != nil {
				torn = torn || git
				list = append(list, fmt.Errorf("%s: %w", c.Path, err))
			}
		}
		binary.LittleEndian.PutUint64(mark[:], i+1)
		if _, err := count.WriteAt(mark[:], 0); err != nil {
			return nil, err
		}
	}
	// A folder that its owner may not write to gets what is in it first.
	for i := range m.Changes {
		if c := &m.Changes[i]; c.Kind == Folder {
			if info, err := os.Lstat(w.written(c.Path)); err == nil && info.Mode()&0o700 != 0o700 {
				_ = to.chmod(c.Path, info.Mode().Perm())
			}
		}
	}
	return errors.Join(list[:min(len(list), maxFailed)]...), nil
}

func (w *Writes) bring(to *ground, c *Change) error {
	from := w.written(c.Path)
	switch c.Kind {
	case Gone:
		return to.remove(c.Path)
	case Folder:
		info, err := os.Lstat(from)
		if err != nil {
			return err
		}
		return to.folder(c.Path, info.Mode().Perm(), c.fresh)
	case Link:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return to.link(c.Path, target)
	case File:
		return to.file(c.Path, from)
	case Other:
	}
	return errors.New("it cannot be moved in")
}
