// Package undo keeps the files that calls replaced in projects for some days, so that the owner can
// restore them. They are stored in the monitor's own folder, which agents cannot reach.
//
// The labels of the files are kept with them and restored, too; a file without a label is untrusted
// and secret. If there is too much to keep, files with little trust are dropped first, the largest
// before others, so that a session that writes a gigabyte does not push out the owner's files.
package undo

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/store/swap"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// Quota is how many bytes are kept in all, unless the owner says otherwise.
const Quota = 1 << 30

// Limits of what is kept.
const (
	keepFor  = 7 * 24 * time.Hour
	idleFor  = 24 * time.Hour // how long a room is kept for its box
	maxAbout = 256 << 20      // bytes; it names everything that is restored beside its old path
	maxKept  = 2_000          // calls
	// Looking through everything that is kept takes longer than keeping one small call. So it is
	// done only after every trimAfter calls, and after each call that takes more than one part in
	// largePart of the quota.
	trimAfter, largePart = 32, 100
)

// moved is the name of the swap that a call made, back of the swap that undoes it.
const (
	moved = "in"
	back  = "back"
)

// A Store keeps what calls replaced. It is safe for concurrent use.
type Store struct {
	Folder string
	Quota  int64
	Now    func() time.Time
	// Lock waits until no other process changes a project.
	Lock func(project string) (io.Closer, error)
	// At is called at each step of an undo. It may be nil.
	At func(point string)

	mu    sync.Mutex // held while the kept files are changed
	taken int        // calls since the start
}

// An About describes a call and what is kept of it.
type About struct {
	ID      string    `json:"-"`
	Tenant  string    `json:"tenant,omitempty"`
	Session string    `json:"session"`
	Call    string    `json:"call"`
	Command string    `json:"command"`
	Project string    `json:"project"`
	At      time.Time `json:"at"`
	// Files is how many paths the call changed. Bytes is how many bytes of what it replaced are
	// kept. Unkept says why nothing is kept.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Low is how many of Bytes had little trust when they were replaced.
	Low    int64  `json:"low,omitempty"`
	Unkept string `json:"unkept,omitempty"`
	// Said holds what sessions had recorded about the paths when the call replaced them.
	Said Said `json:"said,omitzero"`
	// Beside maps the path at which something is being restored to the path where it was.
	Beside map[string]string `json:"beside,omitempty"`
}

func (s *Store) rooms() string         { return filepath.Join(s.Folder, "rooms") }
func (s *Store) kept(id string) string { return filepath.Join(s.Folder, "kept", id) }

// Room makes a folder for the box of a call, on the disk of the store.
func (s *Store) Room(a About) (string, error) {
	word := make([]byte, 16)
	_, _ = rand.Read(word) // never fails
	room := filepath.Join(s.rooms(), hex.EncodeToString(word))
	if err := errors.Join(os.MkdirAll(room, 0o700), os.MkdirAll(s.kept(""), 0o700)); err != nil {
		return "", err
	}
	if !fit(room) {
		return "", errors.Join(errors.New("the disk cannot hold what a box writes"), os.RemoveAll(room))
	}
	a.At = s.Now()
	return room, write(room, a)
}

func write(folder string, a About) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return wholefile.Replace(filepath.Join(folder, "about.json"), data, 0o600)
}

func read(folder string) (a About, err error) {
	f, err := os.Open(filepath.Join(folder, "about.json"))
	if err != nil {
		return a, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAbout))
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	a.ID = filepath.Base(folder)
	return a, err
}

// Take keeps what the box in a room replaced, and removes the room. The box must have ended. If it
// was killed while it moved files in, Take finishes that first.
func (s *Store) Take(room string, said Said) error {
	if filepath.Dir(room) != s.rooms() {
		return nil // a room outside of the store is not kept
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.take(room, said), s.leave(false))
}

// Adopt keeps what a box replaced if the box worked in a folder that others can write to, such as
// one in its agent's sandbox. record is the hash of the box's record, which the box told the
// monitor.
func (s *Store) Adopt(a About, from, record string) error {
	if record == "" {
		return nil
	}
	room, err := s.Room(a)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &swap.Swap{Folder: room, Name: moved}
	if err := in.Adopt(from, record); err != nil {
		return errors.Join(err, remove(room))
	}
	return s.take(room, a.Said)
}

func (s *Store) take(room string, said Said) error {
	a, err := read(room)
	if err != nil {
		return err
	}
	in := swap.Swap{Folder: room, Name: moved}
	if in.Pending() {
		if err := s.finish(&in); err != nil {
			return err
		}
	}
	done, err := in.Done()
	if errors.Is(err, fs.ErrNotExist) {
		return remove(room)
	}
	if err != nil {
		return errors.Join(err, remove(room))
	}
	a.Said = said
	if err := s.measure(&a, room, done); err != nil {
		return errors.Join(err, remove(room))
	}
	if err := errors.Join(write(room, a), tidy(room)); err != nil {
		return err
	}
	if err := os.Rename(room, s.kept(a.ID)); err != nil {
		return err
	}
	if s.taken++; s.taken%trimAfter != 1 && a.Bytes < s.Quota/largePart {
		return nil
	}
	return s.trim()
}

// tidy removes other files that a killed box left in its room.
func tidy(room string) (err error) {
	list, err := os.ReadDir(room)
	for _, e := range list {
		if name := e.Name(); name != "about.json" && name != moved+".done" && name != moved+".old" {
			err = errors.Join(err, remove(filepath.Join(room, name)))
		}
	}
	return err
}

// finish finishes a swap that was begun, under the lock of its project.
func (s *Store) finish(w *swap.Swap) error {
	plan, err := w.Plan()
	if err != nil {
		return err
	}
	lock, err := s.Lock(plan.Root)
	if err != nil {
		return err
	}
	defer lock.Close()
	w.Root = plan.Root
	return w.Resume()
}

// Sweep finishes swaps that were not finished when the monitor ended, and removes what is too old.
func (s *Store) Sweep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := s.leave(true)
	for _, a := range s.list() {
		errs = errors.Join(errs, s.settle(a.ID))
	}
	return errors.Join(errs, s.trim())
}

// leave takes the content of rooms whose box will not come back: rooms that are older than idleFor
// and, when the monitor starts, rooms whose box has moved files in.
func (s *Store) leave(started bool) (errs error) {
	ours := regexp.MustCompile(`^[0-9a-f]{32}$`)
	list, _ := os.ReadDir(s.rooms()) // there is no folder before the first box
	for _, e := range list {
		if !ours.MatchString(e.Name()) {
			continue
		}
		room := filepath.Join(s.rooms(), e.Name())
		a, wrong := read(room)
		in := swap.Swap{Folder: room, Name: moved}
		_, err := in.Done()
		switch {
		case wrong == nil && (s.Now().Sub(a.At) > idleFor || started && (err == nil || in.Pending())):
			errs = errors.Join(errs, s.take(room, Said{}))
		case wrong != nil && started:
			errs = errors.Join(errs, remove(room))
		}
	}
	return errs
}

// List returns what is kept, the last first.
func (s *Store) List(tenant string) []About {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(s.list(), func(a About) bool { return a.Tenant != tenant })
}

func (s *Store) list() (all []About) {
	list, _ := os.ReadDir(s.kept("")) // nothing is kept before the first call
	for _, e := range list {
		if a, err := read(s.kept(e.Name())); err == nil {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b About) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return all
}

// remove removes a folder with everything that commands left in it, even folders that their owner
// may not read.
func remove(folder string) error {
	_ = filepath.WalkDir(folder, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // WalkDir reads the folder after this
		}
		return nil
	})
	return os.RemoveAll(folder)
}
