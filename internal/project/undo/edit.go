package undo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/floodmark/floodmark/internal/store/swap"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// Limits of what is copied before a call writes files itself, not through a command.
const (
	maxEdited  = 1_024    // files of one call
	maxFile    = 16 << 20 // bytes of one
	maxAtOnce  = 64 << 20 // bytes of all
	editedRoom = moved + ".old"
)

// Before keeps copies of files of a project before a call that is about to write them itself. The
// paths are relative to the project, the most important first. Files beyond the limits, and paths
// that are no files, are left out. It returns the call's room, or an empty string if there are no
// paths.
func (s *Store) Before(a About, paths []string) (room string, err error) {
	if len(paths) == 0 {
		return "", nil
	}
	if room, err = s.Room(a); err != nil {
		return "", err
	}
	plan := &swap.Plan{Root: a.Project, Limit: s.Quota}
	plan.Steps = above(a.Project, paths[:min(len(paths), maxEdited)])
	err = os.Mkdir(filepath.Join(room, editedRoom), 0o700)
	for _, p := range paths[:min(len(paths), maxEdited)] {
		if err != nil {
			break
		}
		i := strconv.Itoa(len(plan.Steps))
		step := swap.Step{Path: p, Do: swap.Put, From: path.Join("new", i)}
		var unfit error
		if step.Was, unfit = kept(filepath.Join(a.Project, p), filepath.Join(room, editedRoom, i), maxAtOnce-plan.Bytes); unfit == nil {
			plan.Steps, plan.Bytes = append(plan.Steps, step), plan.Bytes+step.Was.Size
		} else {
			err = remove(filepath.Join(room, editedRoom, i))
		}
	}
	if err == nil {
		err = (&swap.Swap{Folder: room, Name: edited}).Forget(plan)
	}
	if err != nil {
		return "", errors.Join(err, remove(room))
	}
	return room, nil
}

// above returns the steps for folders that a call has to make to write paths. A folder comes before
// the folders in it.
func above(project string, paths []string) (steps []swap.Step) {
	known := map[string]bool{".": true}
	for _, p := range paths {
		var missing []string
		for dir := path.Dir(p); !known[dir] && len(known) < maxEdited; dir = path.Dir(dir) {
			known[dir] = true
			if _, err := os.Lstat(filepath.Join(project, dir)); errors.Is(err, os.ErrNotExist) {
				missing = append(missing, dir)
			}
		}
		for _, dir := range slices.Backward(missing) {
			steps = append(steps, swap.Step{Path: dir, Do: swap.Put, From: path.Join("new", strconv.Itoa(len(steps))), Above: true})
		}
	}
	return steps
}

// edited is the name of the record of files that are about to be edited.
const edited = "before"

// kept copies the file at a path. If nothing is there, it copies nothing. Anything but a file is an
// error.
func kept(from, to string, left int64) (is swap.Thing, err error) {
	f, err := wholefile.OpenSelf(from)
	if errors.Is(err, os.ErrNotExist) {
		return is, nil
	}
	if err != nil {
		return is, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return is, err
	}
	if is = swap.Of(info); is.Kind != swap.File || is.Size > min(maxFile, left) {
		return is, fmt.Errorf("%s is no file of at most %d bytes", from, maxFile)
	}
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return is, err
	}
	_, err = io.Copy(copied, io.LimitReader(f, maxFile))
	err = errors.Join(err, copied.Chmod(is.Mode), copied.Close(), os.Chtimes(to, is.Time, is.Time))
	is.SHA256 = digest(to)
	return is, err
}

// After keeps what a call replaced, once the call is over. It drops copies of files that are
// unchanged.
func (s *Store) After(room string, said Said) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	plan, err := (&swap.Swap{Folder: room, Name: edited}).Done()
	if err != nil {
		return errors.Join(err, remove(room))
	}
	changed := false
	for i := range plan.Steps {
		step := &plan.Steps[i]
		at := filepath.Join(plan.Root, step.Path)
		if info, err := os.Lstat(at); err == nil {
			step.Left = swap.Of(info)
		}
		switch step.Left.Kind {
		case swap.File:
			step.Left.SHA256 = digest(at)
		case swap.Link:
			step.Left.Link, _ = os.Readlink(at) // an unreadable link is taken for one that was changed
		default:
		}
		switch {
		case step.Left.Kind == "" && step.Was.Kind == "", step.Left.SHA256 != "" && step.Left.SHA256 == step.Was.SHA256 && step.Left.Mode == step.Was.Mode:
			if err := drop(room, plan, i); err != nil {
				return errors.Join(err, remove(room))
			}
		case step.Left.Kind == "":
			step.Do, step.From, changed = swap.Take, "", true
		default:
			changed = changed || !step.Above
		}
	}
	if !changed {
		return remove(room)
	}
	if err := (&swap.Swap{Folder: room, Name: moved}).Forget(plan); err != nil {
		return errors.Join(err, remove(room))
	}
	return s.take(room, said)
}
