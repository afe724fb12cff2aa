package swap

import (
	"errors"
	"path"

	"golang.org/x/sys/unix"
)

// step makes one step. The step may have been made before, in part or as a whole.
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
	if err != nil || staged.Kind == "" { // it was put there already
		return err
	}
	if step.Was.Kind != "" && kept.Kind == "" {
		if err := s.replaced(root, base, step, old); err != nil {
			return err
		}
		s.at("moved away")
	}
	if step.Was.Kind == "" || step.Was.Kind == Folder {
		// Nothing is at the path now, unless another process was faster.
		return base.moveNew(step.From, root, step.Path)
	}
	return base.move(step.From, root, step.Path)
}

// replaced keeps what is at a path. A file stays at the path until the new one takes its place, so
// that the path is never missing; meanwhile it gets a second name where it is kept. A file that
// already has several names is copied, because its content could be changed by another name.
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
		return root.move(step.Path, base, old) // not every disk can link, and not every file can be linked
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
				return nil // another process has put a file there
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
			return base.remove(old) // the old file still has its first name
		}
	case Take:
	}
	if kept.Kind == "" {
		return nil
	}
	return base.moveNew(old, root, step.Path)
}
