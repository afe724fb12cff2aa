package swap

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// shopName begins the name of a folder that a swap makes in its root.
const shopName = ".floodmark-"

// maxPlan bounds a plan that is read.
const maxPlan = 512 << 20

// Do makes all steps or none, and returns the error of the step that failed. The caller holds a
// lock that keeps other swaps out of this root.
func (s *Swap) Do(steps []Step) error {
	p := &Plan{Root: s.Root, Steps: steps, Limit: s.Limit}
	root, err := openGround(s.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	err = s.prepare(root, p)
	if err == nil {
		s.at("prepared")
		err = s.write(s.plan(), p)
	}
	if err != nil {
		if gone := s.clear(root, p); gone != nil {
			return errors.Join(err, gone)
		}
		_ = os.Remove(s.plan()) // there may be none yet
		return err
	}
	s.at("planned")
	return s.carry(root, p)
}

// Pending reports whether a plan was begun and not finished: see [Swap.Resume].
func (s *Swap) Pending() bool {
	_, err := os.Lstat(s.plan())
	return err == nil
}

// Resume finishes a plan whose process was killed, if there is one.
func (s *Swap) Resume() error {
	p, err := s.read(s.plan())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.Root != s.Root {
		return fmt.Errorf("%s is a plan for %s", s.plan(), p.Root)
	}
	root, err := openGround(s.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	err = s.carry(root, p)
	if p.Back != "" && !s.Pending() {
		return nil // all steps were undone, so nothing is left to do
	}
	return err
}

// Plan returns the plan that is not finished yet.
func (s *Swap) Plan() (*Plan, error) { return s.read(s.plan()) }

// Done returns the record of a finished plan.
func (s *Swap) Done() (*Plan, error) { return s.read(s.done()) }

// Forget replaces the record of a finished plan, so that only the steps of p can be undone.
func (s *Swap) Forget(p *Plan) error { return s.write(s.done(), p) }

// carry makes the steps of a plan, or undoes them if one fails.
func (s *Swap) carry(root *ground, p *Plan) error {
	base, err := s.base(root, p)
	switch missing := p.Shop != "" && errors.Is(err, unix.ENOENT); {
	case missing && p.Back != "": // all steps were undone, or none was begun
		return os.Remove(s.plan())
	case missing && p.Made:
		base, err = openGround(s.Folder)
	}
	if err != nil {
		return err
	}
	defer base.Close()
	if p.Back == "" && !p.Made {
		if err := s.make(root, base, p); err != nil {
			return err // the plan is tried again later
		}
	}
	if p.Back != "" {
		return s.back(root, base, p)
	}
	if err := s.keep(root, p); err != nil {
		p.Unkept = err.Error()
	}
	s.at("kept")
	// The record is written before the plan is removed.
	if p.Limit > 0 {
		if err := s.write(s.done(), p); err != nil {
			return err
		}
	}
	s.at("recorded")
	return os.Remove(s.plan())
}

// make makes the steps of a plan, until one fails.
func (s *Swap) make(root, base *ground, p *Plan) error {
	for i := range p.Steps {
		if err := s.step(root, base, p, i); err != nil {
			p.Back, p.Failed = fmt.Sprintf("%s: %v", p.Steps[i].Path, err), i
			return s.write(s.plan(), p)
		}
		s.at("step")
	}
	p.modes(root)
	p.Made = true
	s.at("made")
	if p.Shop == "" && p.Unkept == "" {
		return nil // after a crash all steps can be made again
	}
	return s.write(s.plan(), p)
}

// back undoes the steps of a plan.
func (s *Swap) back(root, base *ground, p *Plan) error {
	for i := min(p.Failed, len(p.Steps)-1); i >= 0; i-- {
		if err := s.unstep(root, base, p, i); err != nil {
			return fmt.Errorf("%s: take it back: %w", p.Steps[i].Path, err)
		}
		s.at("unstep")
	}
	if err := s.clear(root, p); err != nil {
		return err
	}
	s.at("cleared")
	if err := os.Remove(s.plan()); err != nil || len(p.Steps) == 0 {
		return err
	}
	return errors.New(p.Back)
}

// base opens the folder that holds the new and the replaced files.
func (s *Swap) base(root *ground, p *Plan) (*ground, error) {
	if p.Shop != "" {
		return root.below(p.Shop)
	}
	return openGround(s.Folder)
}

// clear removes the kept files, or the whole shop.
func (s *Swap) clear(root *ground, p *Plan) error {
	if p.Shop != "" {
		return root.remove(p.Shop)
	}
	base, err := openGround(s.Folder)
	if err != nil {
		return err
	}
	defer base.Close()
	return base.remove(s.kept())
}

// prepare records what is at each path now, and brings the new files to the root's disk.
func (s *Swap) prepare(root *ground, p *Plan) error {
	here, err := openGround(s.Folder)
	if err != nil {
		return err
	}
	defer here.Close()
	base := here
	if !root.beside(here) {
		word := make([]byte, 8)
		_, _ = rand.Read(word) // never fails
		p.Shop = shopName + hex.EncodeToString(word)
		// The next process removes the shop if this one is killed before the plan is complete.
		if err := s.write(s.plan(), &Plan{Root: s.Root, Shop: p.Shop, Back: "nothing was moved yet"}); err != nil {
			return err
		}
		if err := root.mkdir(p.Shop, 0o700); err != nil {
			return err
		}
		if base, err = root.below(p.Shop); err != nil {
			return err
		}
		defer base.Close()
		if err := base.mkdir("new", 0o700); err != nil {
			return err
		}
	}
	if err := errors.Join(base.remove(s.kept()), base.mkdir(s.kept(), 0o700)); err != nil {
		return err
	}
	anew := map[string]bool{} // folders that will be new, so nothing that is in them now will be
	for i := range p.Steps {
		if err := s.ready(root, here, base, p, i, anew); err != nil {
			return fmt.Errorf("%s: %w", p.Steps[i].Path, err)
		}
	}
	if p.Bytes > s.Limit || s.Limit == 0 {
		p.Unkept = fmt.Sprintf("it replaced %d MB, and at most %d are kept", p.Bytes>>20, s.Limit>>20)
	}
	return nil
}

// ready prepares one step: it records what is at the path and, for a Put, brings the new file to
// the root's disk.
func (s *Swap) ready(root, here, base *ground, p *Plan, i int, anew map[string]bool) error {
	step := &p.Steps[i]
	if !local(step.Path) || step.From != "" && !local(step.From) || (step.Do == Put) != (step.From != "") {
		return errors.New("it is no path within the folder")
	}
	step.Was = Thing{}
	if !inside(step.Path, anew) {
		was, err := root.thing(step.Path)
		if err != nil {
			return err
		}
		step.Was = was
	}
	if step.Do == Make && (step.Fresh || step.Was.Kind != Folder) {
		anew[step.Path] = true
	}
	if step.Was.Kind != "" && (step.Do != Make || step.Fresh || step.Was.Kind != Folder) {
		n, err := root.size(step.Path, s.Limit-p.Bytes)
		if err != nil {
			return err
		}
		p.Bytes += n
	}
	if step.Do != Put {
		return nil
	}
	left, err := here.thing(step.From)
	if err != nil {
		return err
	}
	left.SHA256, left.Listed = step.Left.SHA256, step.Left.Listed
	if step.Left = left; left.Kind == "" {
		return errors.New("it is not there any more")
	}
	if p.Shop != "" {
		to := path.Join("new", numbered(i))
		if err := here.copy(step.From, base, to); err != nil {
			return err
		}
		step.From = to
	}
	if lasts(step.Path) {
		return base.onDisk(step.From)
	}
	return nil
}

// lasts reports whether a new file must survive a power cut. That is so for git's files, because
// git itself syncs an object before anything names it. For other files a box does not wait.
func lasts(p string) bool { return strings.HasPrefix(p, ".git/") }

// inside reports whether a path is in one of some folders.
func inside(p string, folders map[string]bool) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if folders[dir] {
			return true
		}
	}
	return false
}

// keep moves the replaced files to where they are kept, or drops them.
func (s *Swap) keep(root *ground, p *Plan) error {
	if p.Unkept != "" {
		return s.clear(root, p)
	}
	if p.Shop == "" {
		return nil
	}
	here, err := openGround(s.Folder)
	if err != nil {
		return err
	}
	defer here.Close()
	shop, err := root.below(p.Shop)
	if errors.Is(err, unix.ENOENT) {
		return nil // this was done before
	}
	if err != nil {
		return err
	}
	defer shop.Close()
	if err = here.remove(s.kept()); err == nil {
		err = shop.copy(s.kept(), here, s.kept())
	}
	if err != nil {
		err = errors.Join(err, here.remove(s.kept()))
	}
	return errors.Join(err, root.remove(p.Shop))
}

// modes sets the modes of new folders once their content is there.
func (p *Plan) modes(root *ground) {
	for i := range p.Steps {
		if step := &p.Steps[i]; step.Do == Make && step.Left.Mode&0o700 != 0o700 {
			_ = root.chmod(step.Path, step.Left.Mode)
		}
	}
}

// write stores a plan durably, so that it survives a power cut.
func (s *Swap) write(to string, p *Plan) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(to+".new", to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to+".new"))
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	_ = dir.Sync() // not every disk can
	return dir.Close()
}

func (s *Swap) read(from string) (*Plan, error) {
	info, err := os.Lstat(from)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPlan {
		return nil, fmt.Errorf("%s is no plan", from)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	var p Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", from, err)
	}
	if p.Shop != "" && (!strings.HasPrefix(p.Shop, shopName) || strings.Contains(p.Shop, "/")) {
		return nil, fmt.Errorf("%s cannot be read: it is not whole", from)
	}
	for i := range p.Steps {
		if step := &p.Steps[i]; !local(step.Path) || step.From != "" && !local(step.From) {
			return nil, fmt.Errorf("%s cannot be read: %q lies outside", from, step.Path)
		}
	}
	return &p, nil
}
