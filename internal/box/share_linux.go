package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The boxes of a session share a /tmp and a cache, one box at a time. Two boxes that run at once
// must not share them: through a socket there, one box could pass the other a descriptor of its
// project, and the other could then change files while they are moved in. So a box has these
// folders for itself. Another box that runs at the same time sees them under a layer of its own,
// which ends with it; in a layer, sockets lead nowhere.

// takeShared takes the shared folders for this box until the locks are closed, and returns the
// folders that another box is using. Each lock is first taken exclusively, which fails if any box
// has it. It is then made a shared lock in one step, so that the first process inside can have it,
// too (see hold).
func (s *Spec) takeShared() (locks []*os.File, busy []string) {
	for _, p := range []string{s.Temp, s.Cache} {
		if p == "" {
			continue
		}
		f, err := os.OpenFile(p, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		}
		if err != nil { // also if the disk has no locks
			busy = append(busy, p)
		} else {
			locks = append(locks, f)
		}
	}
	return locks, busy
}

// hold takes the locks for the first process inside, too, so that the box keeps them if the outer
// process is killed. The command gets none of them.
func (s *Spec) hold() error {
	for _, p := range []string{s.Temp, s.Cache} {
		if p == "" || slices.Contains(s.busy, p) {
			continue
		}
		fd, err := unix.Open(p, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

func (s *Spec) beside() string { return filepath.Join(s.Folder, "beside") }

// share shows the folder from, which is in the shared folder taken, at the path to. If another box
// uses taken, it is shown under a layer of this box.
func (s *Spec) share(taken, from, to string) error {
	if !slices.Contains(s.busy, taken) {
		return s.bind(from, to, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return s.above(to, from, filepath.Join(s.beside(), filepath.Base(to)))
}

// above shows the folder from at the path to, under a layer that is in the folder layer.
func (s *Spec) above(to, from, layer string) error {
	upper, work := filepath.Join(layer, "written"), filepath.Join(layer, "work")
	if err := os.MkdirAll(upper, 0o700); err != nil {
		return err
	}
	return s.overlay(to, from, upper, work)
}

// layers returns the folder of the layers over the owner's caches, which the boxes of a session use
// one after another. Each boot of the machine has its own, because a crash may leave layers half
// written. A box does not show this folder, because a layer must not be changed except through its
// overlay.
func (s *Spec) layers() (string, error) {
	start, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return filepath.Join(s.Cache, "layers", strings.TrimSpace(string(start))), nil
}

// caches shows the session's own cache folder as the owner's, and in it the owner's build caches,
// each under a layer of the session.
func (s *Spec) caches() error {
	layers := filepath.Join(s.beside(), "caches")
	if s.Cache != "" {
		own := filepath.Join(s.Cache, "own")
		if err := errors.Join(os.MkdirAll(own, 0o700), os.Chmod(own, 0o700)); err != nil {
			return err
		}
		if err := s.share(s.Cache, own, filepath.Join(s.Home, ".cache")); err != nil {
			return err
		}
		if !slices.Contains(s.busy, s.Cache) {
			kept, err := s.layers()
			if err != nil {
				return err
			}
			layers = kept
		}
	}
	for _, name := range lines(cacheList) {
		p := filepath.Join(s.Home, name)
		if !straight(p) {
			continue // it does not exist, or a link leads elsewhere
		}
		if err := s.above(p, p, filepath.Join(layers, name)); err != nil {
			return err
		}
	}
	return nil
}
