package undo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/internal/store/swap"
	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// Reach is how many times the quota is kept of one call until it is over. Only then is it known
// which of the files are the owner's.
const Reach = 8

// measure sets how much is kept of a call. If a call replaced more than the quota, measure drops
// what had little trust and, if that is not enough, everything.
func (s *Store) measure(a *About, room string, done *swap.Plan) error {
	a.Project, a.Files, a.Bytes, a.Unkept = done.Root, changes(done), done.Bytes, done.Unkept
	if a.Unkept == "" {
		for _, p := range pieces(load{a, room, done}) {
			a.Low += p.size
		}
	}
	if a.Unkept == "" && a.Bytes > s.Quota {
		why := fmt.Sprintf("it replaced %d MB, and at most %d are kept", a.Bytes>>20, s.Quota>>20)
		if err := lighten([]load{{a, room, done}}, a.Bytes-s.Quota); err != nil {
			return err
		}
		if a.Bytes > s.Quota || a.Files == 0 {
			a.Files, a.Unkept, done.Unkept = len(done.Steps), why, why
			if err := errors.Join(remove(filepath.Join(room, moved+".old")), forget(room, done)); err != nil {
				return err
			}
		}
	}
	if a.Unkept != "" {
		a.Bytes, a.Low = 0, 0
	}
	return nil
}

func forget(room string, done *swap.Plan) error {
	return (&swap.Swap{Folder: room, Name: moved}).Forget(done)
}

// changes returns how many paths a call changed.
func changes(p *swap.Plan) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Do != "" && !p.Steps[i].Above {
			n++
		}
	}
	return n
}

// A piece is a kept file or folder that had little trust when a call replaced it: sessions had left
// it there after they had read what strangers wrote.
type piece struct {
	of   load
	step int
	at   string // where it is kept
	size int64
}

// pieces returns the pieces of one call. If a folder also has files of the owner, its pieces are
// single files.
func pieces(l load) (list []piece) {
	words, known := l.a.Said.Kept()
	if !l.a.Said.Much && (!known || len(words) == 0) {
		return nil
	}
	low := func(p string) bool {
		return l.a.Said.Much || leftover.Worth(words, catalog.FoldPath(filepath.ToSlash(p))).Trust < floodmark.Local
	}
	for i := range l.done.Steps {
		step := &l.done.Steps[i]
		at, lay := keptAt(l.room, i), filepath.Join(l.done.Root, step.Path)
		switch {
		case step.Do == "" || step.Was.Kind == "":
		case low(lay):
			list = append(list, piece{l, i, at, size(at)})
		case step.Was.Kind == swap.Folder && slices.ContainsFunc(words, func(k artifact.Kept) bool {
			return strings.HasPrefix(k.Ref.Name, catalog.FoldPath(filepath.ToSlash(lay))+"/")
		}):
			_ = filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && low(filepath.Join(lay, strings.TrimPrefix(p, at))) {
					list = append(list, piece{l, i, p, size(p)})
				}
				return nil
			})
		}
	}
	return list
}

// keptAt returns where the thing that one step replaced is kept.
func keptAt(room string, i int) string { return filepath.Join(room, moved+".old", strconv.Itoa(i)) }

// size returns how many bytes are kept at a path.
func size(at string) (n int64) {
	_ = filepath.WalkDir(at, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable files are not counted
		}
		n += 512 // what a name takes
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += wholefile.Room(info)
		}
		return nil
	})
	return n
}

// removeIn removes a file, also from a folder that its owner may not write to.
func removeIn(p string) error {
	err := os.Remove(p)
	if err == nil {
		return nil
	}
	dir := filepath.Dir(p)
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(dir, 0o700), os.Remove(p), os.Chmod(dir, info.Mode().Perm()))
}

// drop deletes what is kept of one step.
func drop(room string, p *swap.Plan, i int) error {
	p.Bytes = max(p.Bytes-size(keptAt(room, i)), 0)
	p.Steps[i].Do = ""
	return remove(keptAt(room, i))
}

// A load is everything that is kept of one call.
type load struct {
	a    *About
	room string
	done *swap.Plan
}

// lighten drops pieces, the largest first, until so many bytes are gone. A record about a whole
// project also makes pieces of the owner's files in it; those are usually small, so they are
// dropped last.
func lighten(loads []load, over int64) (errs error) {
	var list []piece
	for _, l := range loads {
		list = append(list, pieces(l)...)
	}
	slices.SortStableFunc(list, func(a, b piece) int { return cmp.Compare(b.size, a.size) })
	for _, p := range list {
		if over <= 0 {
			break
		}
		if p.at == keptAt(p.of.room, p.step) {
			errs = errors.Join(errs, drop(p.of.room, p.of.done, p.step))
		} else {
			errs = errors.Join(errs, removeIn(p.at))
		}
		p.of.a.Bytes, p.of.a.Low = max(p.of.a.Bytes-p.size, 0), max(p.of.a.Low-p.size, 0)
		over -= p.size
	}
	for _, l := range loads {
		l.a.Files = changes(l.done)
		errs = errors.Join(errs, forget(l.room, l.done), write(l.room, *l.a))
	}
	return errs
}

// trim removes what is too old. If there is still too much, it removes what had little trust first,
// so that a session cannot push out the owner's work by overwriting many large files of its own.
// Then it removes the oldest.
func (s *Store) trim() (errs error) {
	list := s.list()
	total := int64(0)
	keep := list[:0]
	for _, a := range list {
		if s.Now().Sub(a.At) > keepFor {
			errs = errors.Join(errs, remove(s.kept(a.ID)))
			continue
		}
		keep, total = append(keep, a), total+a.Bytes
	}
	slices.Reverse(keep) // the oldest first
	if total > s.Quota {
		var loads []load
		for i := range keep {
			if a := &keep[i]; a.Low > 0 {
				if done, err := (&swap.Swap{Folder: s.kept(a.ID), Name: moved}).Done(); err == nil {
					loads = append(loads, load{a, s.kept(a.ID), done})
				}
			}
		}
		errs, total = errors.Join(errs, lighten(loads, total-s.Quota)), 0
		keep = slices.DeleteFunc(keep, func(a About) bool {
			if a.Files == 0 {
				errs = errors.Join(errs, remove(s.kept(a.ID)))
			} else {
				total += a.Bytes
			}
			return a.Files == 0
		})
	}
	none := func(a About) bool { return a.Bytes == a.Low } // nothing of it is the owner's own work
	for _, all := range []bool{false, true} {
		for i := 0; i < len(keep) && (len(keep) > maxKept || all && total > s.Quota); {
			if !all && !none(keep[i]) {
				i++
				continue
			}
			errs = errors.Join(errs, remove(s.kept(keep[i].ID)))
			total -= keep[i].Bytes
			keep = slices.Delete(keep, i, i+1)
		}
	}
	return errs
}
