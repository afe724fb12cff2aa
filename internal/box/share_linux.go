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

// The boxes of a session share a /tmp and a cache, one after the other. Two that
// run at once must not: by a socket there, one could hand the other a descriptor of
// its project, and so have what it wrote changed while that is moved in. So a box
// has these folders for itself, and one that comes meanwhile sees them under a
// layer of its own, which ends with it. In a layer sockets lead nowhere.

// takeShared takes the shared folders for this box, until the locks are closed, and
// returns those that another box has. The locks are shared with the first process inside,
// see hold, and keep out every other box: each asks first for one that is not shared. The
// kernel turns one into the other in one step.
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
		if err != nil { // also where the disk knows no locks
			busy = append(busy, p)
		} else {
			locks = append(locks, f)
		}
	}
	return locks, busy
}

// hold gives the first process inside its own part of the locks: they hold as long as the
// box does, also if the outer process is killed. The command gets none of them.
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

// share shows a folder at a path that lies in one of the session's.
func (s *Spec) share(taken, from, to string) error {
	if !slices.Contains(s.busy, taken) {
		return s.bind(from, to, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return s.above(to, from, filepath.Join(s.beside(), filepath.Base(to)))
}

// above shows a folder at a path, under a layer that lies in another.
func (s *Spec) above(to, from, layer string) error {
	upper, work := filepath.Join(layer, "written"), filepath.Join(layer, "work")
	if err := os.MkdirAll(upper, 0o700); err != nil {
		return err
	}
	return s.overlay(to, from, upper, work)
}

// layers returns where the layers over the owner's caches are, which the boxes of a session use one
// after the other. A machine that stopped may have left them half written, so each boot has its
// own. They are not shown: a layer must not change beside its overlay.
func (s *Spec) layers() (string, error) {
	start, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return filepath.Join(s.Cache, "layers", strings.TrimSpace(string(start))), nil
}

// caches shows what boxes of the session left in the owner's cache folder, and build
// caches of the owner's, each under a layer of the session's.
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
			continue // nothing there, or a way to somewhere else
		}
		if err := s.above(p, p, filepath.Join(layers, name)); err != nil {
			return err
		}
	}
	return nil
}
