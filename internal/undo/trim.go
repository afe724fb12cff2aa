package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/leftover"
	"github.com/floodmark/floodmark/internal/swap"
)

// Reach is how many bytes of one call's are kept until it is over, in quotas: only then it
// is known which of them are the owner's.
const Reach = 8

// measure says how much is kept of a call. Of one that replaced more than there is room
// for, what was of little trust is not kept, and if that does not do, nothing is.
func (s *Store) measure(a *About, room string, done *swap.Plan) error {
	a.Project, a.Files, a.Bytes, a.Unkept = done.Root, changes(done), done.Bytes, done.Unkept
	if a.Unkept == "" {
		for _, i := range lowSteps(a, done) {
			a.Low += s.size(room, i)
		}
		if a.Bytes > s.Quota {
			a.Unkept = fmt.Sprintf("it replaced %d MB, and at most %d are kept", a.Bytes>>20, s.Quota>>20)
		}
		if a.Unkept != "" && a.Bytes-a.Low <= s.Quota && len(lowSteps(a, done)) < a.Files {
			a.Unkept = ""
			return s.forgetLow(a, room, done)
		}
		if a.Unkept != "" {
			done.Unkept = a.Unkept
			if err := errors.Join(remove(filepath.Join(room, moved+".old")), (&swap.Swap{Folder: room, Name: moved}).Forget(done)); err != nil {
				return err
			}
		}
	}
	if a.Unkept != "" {
		a.Bytes, a.Low = 0, 0
	}
	return nil
}

// changes is how many paths a call changed.
func changes(p *swap.Plan) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Do != "" {
			n++
		}
	}
	return n
}

// lowSteps are those that replaced something of little trust: what sessions had left there
// themselves, after they had read what strangers wrote.
func lowSteps(a *About, p *swap.Plan) (list []int) {
	words, known := a.Said.Kept()
	if !known || len(words) == 0 {
		return nil
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		at := catalog.FoldPath(filepath.ToSlash(filepath.Join(p.Root, step.Path)))
		if step.Do != "" && step.Was.Kind != "" && leftover.Worth(words, at).Trust < floodmark.Local {
			list = append(list, i)
		}
	}
	return list
}

// size is how many bytes are kept of one step.
func (s *Store) size(room string, i int) (n int64) {
	_ = filepath.WalkDir(filepath.Join(room, moved+".old", strconv.Itoa(i)), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be looked at is not counted
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// drop keeps nothing of one step any more.
func (s *Store) drop(room string, p *swap.Plan, i int) error {
	p.Bytes = max(p.Bytes-s.size(room, i), 0)
	p.Steps[i].Do = ""
	return remove(filepath.Join(room, moved+".old", strconv.Itoa(i)))
}

// forgetLow keeps nothing any more of what was of little trust when a call replaced it.
func (s *Store) forgetLow(a *About, room string, done *swap.Plan) error {
	for _, i := range lowSteps(a, done) {
		if err := s.drop(room, done, i); err != nil {
			return err
		}
	}
	a.Files, a.Bytes, a.Low = changes(done), max(a.Bytes-a.Low, 0), 0
	return errors.Join((&swap.Swap{Folder: room, Name: moved}).Forget(done), write(room, *a))
}

// trim removes what is too old and, of too much, what was of little trust, before anything
// that was not: nobody pushes the owner's own work out by writing much and writing it over.
// Then the oldest goes.
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
	for i := range keep {
		if a := &keep[i]; total > s.Quota && a.Low > 0 {
			total -= a.Bytes
			errs = errors.Join(errs, s.lose(a))
			total += a.Bytes
		}
	}
	keep = slices.DeleteFunc(keep, func(a About) bool { return a.Files == 0 })
	none := func(a About) bool { return a.Bytes == a.Low } // of the owner's own work
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

// lose forgets what of a call was of little trust.
func (s *Store) lose(a *About) error {
	folder := s.kept(a.ID)
	done, err := (&swap.Swap{Folder: folder, Name: moved}).Done()
	if err == nil {
		err = s.forgetLow(a, folder, done)
	}
	if err == nil && a.Files == 0 {
		a.Bytes = 0
		err = remove(folder)
	}
	return err
}
