package swap

import (
	"errors"
	"path"

	"golang.org/x/sys/unix"
)

// step makes one. It may have been made before, in part or as a whole.
func (s *Swap) step(root, base *ground, p *Plan, i int) error {
	step := &p.Steps[i]
	old := path.Join(s.kept(), numbered(i))
	kept, err := base.thing(old)
	if err != nil {
		return err
	}
	switch step.Do {
	case Take:
		if kept.Kind == "" && step.Was.Kind != "" {
			return root.move(step.Path, base, old)
		}
		return nil
	case Make:
		if step.Was.Kind == Folder && !step.Fresh {
			return nil
		}
		if step.Was.Kind != "" && kept.Kind == "" {
			if err := root.move(step.Path, base, old); err != nil {
				return err
			}
			s.at("moved away")
		}
		return root.mkdir(step.Path, step.Left.Mode|0o700)
	case Put:
		return s.put(root, base, step, old, kept)
	}
	return errors.New("it is not known what to do")
}

// put puts one thing in the place of another.
func (s *Swap) put(root, base *ground, step *Step, old string, kept Thing) error {
	staged, err := base.thing(step.From)
	if err != nil || staged.Kind == "" { // it is there already
		return err
	}
	if step.Was.Kind != "" && kept.Kind == "" {
		if err := s.replaced(root, base, step, old); err != nil {
			return err
		}
		s.at("moved away")
	}
	if step.Was.Kind == "" || step.Was.Kind == Folder {
		// Nothing is there, unless another process was faster.
		return base.moveNew(step.From, root, step.Path)
	}
	return base.move(step.From, root, step.Path)
}

// replaced keeps what is at a path. A file keeps its name until the other is there, so that the
// path is never missing; one that has other names is copied, because its content can be changed by
// those.
func (s *Swap) replaced(root, base *ground, step *Step, old string) error {
	if step.Was.Kind == Folder || step.Left.Kind == Folder {
		return root.move(step.Path, base, old)
	}
	err := error(unix.EXDEV)
	if step.Was.Kind == Link || root.names(step.Path) <= 1 {
		err = root.link(step.Path, base, old)
	}
	if errors.Is(err, unix.EXDEV) {
		half := old + ".half"
		if err := errors.Join(base.remove(half), root.copy(step.Path, base, half)); err != nil {
			return err
		}
		return base.move(half, base, old)
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK) || errors.Is(err, unix.ENOTSUP) {
		return root.move(step.Path, base, old) // not every disk and file can
	}
	return err
}

// unstep undoes one step, if it was made, in part or as a whole.
func (s *Swap) unstep(root, base *ground, p *Plan, i int) error {
	step := &p.Steps[i]
	old := path.Join(s.kept(), numbered(i))
	kept, err := base.thing(old)
	if err != nil {
		return err
	}
	there, err := root.thing(step.Path)
	if err != nil && !errors.Is(err, errWay) {
		return err
	}
	switch step.Do {
	case Make:
		if there.Kind == Folder && (step.Was.Kind == "" || kept.Kind != "") {
			_ = root.chmod(step.Path, 0o700)
			err := root.rmdir(step.Path)
			if errors.Is(err, unix.ENOTEMPTY) && kept.Kind == "" {
				return nil // another file is there by now
			}
			if err != nil && !errors.Is(err, unix.ENOENT) {
				return err
			}
		}
	case Put:
		staged, err := base.thing(step.From)
		if err != nil {
			return err
		}
		if staged.Kind == "" && there.Kind != "" {
			if err := root.move(step.Path, base, step.From); err != nil {
				return err
			}
			s.at("moved back")
		} else if kept.Kind != "" && there.Kind != "" {
			return base.remove(old) // what was there is there, by its first name
		}
	case Take:
	}
	if kept.Kind == "" {
		return nil
	}
	return base.moveNew(old, root, step.Path)
}
