package undo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/floodmark/floodmark/internal/store/swap"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Result is the result of an undo, or of a dry run.
type Result struct {
	// Given are the paths that are restored.
	Given []string
	// Gone are the paths of Given that are removed, because they did not exist before the call.
	Gone []string
	// Refused are the paths that were changed since the call, and are not restored.
	Refused []Refusal
	// Returns are the things that come back, and where to.
	Returns []Return
	// Done says that the undo was made, and not only looked at.
	Done bool
}

// A Return is a thing that comes back. Was is where it was. At is where it is put: the same path,
// or another one beside it.
type Return struct {
	Was, At string
	Folder  bool
}

// A Refusal says why a path is not restored.
type Refusal struct{ Path, Why string }

// How says how to undo.
type How struct {
	Dry  bool // only say what would be done
	Only bool // leave out paths that were changed since
	// Beside restores a thing whose path was changed since under another name beside that path. The
	// rest is restored as usual.
	Beside bool
}

// ErrGone says that nothing of a call is kept any more.
var ErrGone = errors.New("nothing is kept of it any more")

// Back restores what a call replaced. If some of the paths were changed since, it restores nothing,
// unless how says what to do with those.
func (s *Store) Back(id string, how How) (r Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if filepath.Base(id) != id {
		return r, ErrGone
	}
	folder := s.kept(id)
	if err := s.settle(id); err != nil {
		return r, err
	}
	done, err := (&swap.Swap{Folder: folder, Name: moved}).Done()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, ErrGone
	case err != nil:
		return r, err
	case done.Unkept != "":
		return r, fmt.Errorf("it cannot be given back: %s", done.Unkept)
	}
	lock, err := s.Lock(done.Root)
	if err != nil {
		return r, err
	}
	defer lock.Close()
	l := look(done)
	r.Refused = l.refused
	steps := done.Reverse(moved, func(p string) bool { return !l.stays[p] })
	for _, step := range steps {
		r.Given = append(r.Given, step.Path)
		if step.Do == swap.Take {
			r.Gone = append(r.Gone, step.Path)
		}
		if step.Do == swap.Put {
			r.Returns = append(r.Returns, Return{step.Path, step.Path, step.Left.Kind == swap.Folder})
		}
	}
	if how.Beside {
		more, besides := l.beside(done)
		steps, r.Returns = append(steps, more...), append(r.Returns, besides...)
	}
	if how.Dry || len(l.refused) > 0 && !how.Only && !how.Beside || len(steps) == 0 {
		return r, nil
	}
	if err := s.note(folder, r.Returns); err != nil {
		return r, err
	}
	// The files that the call wrote are kept until all is restored.
	w := &swap.Swap{Root: done.Root, Folder: folder, Name: back, Limit: math.MaxInt64, At: s.At}
	if err := w.Do(steps); err != nil {
		return r, err
	}
	r.Done = true
	return r, s.settle(id)
}

// note records which things are put back beside their old place, so that settle knows that they are
// not kept any more.
func (s *Store) note(folder string, returns []Return) error {
	a, err := read(folder)
	if err != nil {
		return err
	}
	a.Beside = map[string]string{}
	for _, r := range returns {
		if r.Was != r.At {
			a.Beside[r.At] = r.Was
		}
	}
	if len(a.Beside) == 0 {
		return nil
	}
	return write(folder, a)
}

// settle finishes an undo, and records that the restored files are not kept any more.
func (s *Store) settle(id string) error {
	folder := s.kept(id)
	w := &swap.Swap{Folder: folder, Name: back}
	if w.Pending() {
		if err := s.finish(w); err != nil {
			return err
		}
	}
	given, err := w.Done()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	in := &swap.Swap{Folder: folder, Name: moved}
	done, err := in.Done()
	if err != nil {
		return err
	}
	a, err := read(folder)
	if err != nil {
		return err
	}
	was := map[string]bool{}
	for _, step := range given.Steps {
		was[cmp.Or(a.Beside[step.Path], step.Path)] = true
	}
	for i := range done.Steps {
		if step := &done.Steps[i]; was[step.Path] {
			step.Do = ""
		}
	}
	if a.Files, a.Beside = changes(done), nil; a.Files == 0 {
		return remove(folder)
	}
	if err := errors.Join(in.Forget(done), write(folder, a), remove(filepath.Join(folder, back+".old"))); err != nil {
		return err
	}
	return os.Remove(filepath.Join(folder, back+".done"))
}

// A looker compares a project with the files that a call left there.
type looker struct {
	root    string
	refused []Refusal
	stays   map[string]bool // paths that are not restored
	ours    map[string]bool // paths that the call left
}

func look(p *swap.Plan) *looker {
	l := &looker{root: p.Root, stays: map[string]bool{}, ours: map[string]bool{}}
	for i := range p.Steps {
		if p.Steps[i].Do != "" {
			l.ours[p.Steps[i].Path] = true
		}
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		if step.Do == "" {
			l.stays[step.Path] = true
			continue
		}
		why := l.changed(step)
		if step.Above && why != "" {
			l.stays[step.Path] = true // the folder is in use by others, so it stays
			continue
		}
		if why != "" {
			l.refused = append(l.refused, Refusal{step.Path, why})
			// A folder in which a file stays is not removed.
			for p := step.Path; p != "."; p = filepath.Dir(p) {
				l.stays[p] = true
			}
		}
	}
	return l
}

// beside returns the steps that put the old content of refused paths beside those paths.
func (l *looker) beside(p *swap.Plan) (steps []swap.Step, list []Return) {
	for i := range p.Steps {
		step := &p.Steps[i]
		refused := slices.ContainsFunc(l.refused, func(r Refusal) bool { return r.Path == step.Path })
		if !refused || step.Do == "" || step.Was.Kind == "" || step.Do == swap.Make && step.Was.Kind == swap.Folder && !step.Fresh {
			continue // nothing was replaced, or it is still there
		}
		if at := l.free(step.Path); at != "" {
			l.ours[at] = true
			steps = append(steps, swap.Step{Path: at, Do: swap.Put, From: path.Join(moved+".old", strconv.Itoa(i))})
			list = append(list, Return{step.Path, at, step.Was.Kind == swap.Folder})
		}
	}
	return steps, list
}

// free returns an unused name beside a path. Missing folders on the way become part of the name.
func (l *looker) free(p string) string {
	const often, longest = 1000, 200
	dir, name := ".", p
	for {
		first, rest, more := strings.Cut(name, "/")
		info, err := os.Lstat(filepath.Join(l.root, dir, first))
		if !more || err != nil || !info.IsDir() {
			break
		}
		dir, name = path.Join(dir, first), rest
	}
	name = strings.ReplaceAll(name, "/", ".")
	name = name[:min(len(name), longest)] + ".before-undo"
	for i := range often {
		at := path.Join(dir, name)
		if i > 0 {
			at += "-" + strconv.Itoa(i+1)
		}
		if _, err := os.Lstat(filepath.Join(l.root, at)); errors.Is(err, fs.ErrNotExist) && !l.ours[at] {
			return at
		}
	}
	return ""
}

// changed says how a path differs from what the call left there; empty if it does not.
func (l *looker) changed(step *swap.Step) string {
	at := filepath.Join(l.root, step.Path)
	info, err := os.Lstat(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return "it cannot be looked at"
	}
	if err != nil {
		if step.Left.Kind == "" {
			return l.folderOf(step.Path)
		}
		return "it was removed since"
	}
	is := swap.Of(info)
	switch {
	case step.Left.Kind == "":
		return "something was put there since"
	case is.Kind != step.Left.Kind:
		return "it was replaced since"
	case is.Kind == swap.Folder:
		return l.inside(step)
	case is.Kind == swap.Link:
		if to, err := os.Readlink(at); err != nil || to != step.Left.Link {
			return "it leads elsewhere since"
		}
	case is.Mode != step.Left.Mode:
		return "its mode was changed since"
	case !same(at, &is, &step.Left):
		return "it was changed since"
	}
	return ""
}

// same reports whether a file is what a call left. Git's index is the same if it lists the same
// files, because `git status` rewrites it.
func same(at string, is, left *swap.Thing) bool {
	if left.SHA256 == "" {
		return is.Size == left.Size && is.Time.Equal(left.Time)
	}
	return is.Size == left.Size && digest(at) == left.SHA256 || left.Listed != "" && swap.Listed(at) == left.Listed
}

// folderOf says that a removed thing has no folder to come back to; empty if it has one.
func (l *looker) folderOf(p string) string {
	dir := filepath.Dir(p)
	if info, err := os.Lstat(filepath.Join(l.root, dir)); (err != nil || !info.IsDir()) && !l.ours[dir] {
		return "its folder was removed since"
	}
	return ""
}

// inside says that a folder which the call made has later content; empty if it has none. If a call
// outside of a box made the folder, its content was not recorded, so all of it is taken for later
// content.
func (l *looker) inside(step *swap.Step) string {
	if step.Do == swap.Make && step.Was.Kind == swap.Folder && !step.Fresh {
		return ""
	}
	list, err := os.ReadDir(filepath.Join(l.root, step.Path))
	if err != nil {
		return "it cannot be looked at"
	}
	for _, e := range list {
		if p := filepath.ToSlash(filepath.Join(step.Path, e.Name())); !l.ours[p] {
			return "it holds " + strings.ToValidUTF8(e.Name(), "?") + ", which came since"
		}
	}
	return ""
}

func digest(p string) string {
	f, err := wholefile.OpenSelf(p)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
