package box

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// The boxes of a session share a /tmp and a cache, one after the other. Two that
// run at once must not: by a socket there, one could hand the other a descriptor of
// its project, and so have what it wrote changed while that is moved in. So a box
// has these folders for itself, and one that comes meanwhile sees them under a
// layer of its own, which ends with it. In a layer sockets lead nowhere.

// takeShared takes the shared folders for this box, until the locks are closed, and
// returns those that another box has.
func (s *Spec) takeShared() (locks []*os.File, busy []string) {
	for _, p := range []string{s.Temp, s.Cache} {
		if p == "" {
			continue
		}
		f, err := os.OpenFile(p, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err != nil { // also where the disk knows no locks
			busy = append(busy, p)
		} else {
			locks = append(locks, f)
		}
	}
	return locks, busy
}

func (s *Spec) beside() string { return filepath.Join(s.Folder, "beside") }

// share shows a folder of the session's at a path.
func (s *Spec) share(from, to string) error {
	if !slices.Contains(s.busy, from) {
		return s.bind(from, to, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	own := filepath.Join(s.beside(), filepath.Base(to))
	upper, work := filepath.Join(own, "written"), filepath.Join(own, "work")
	for _, p := range []string{upper, work} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return err
		}
	}
	return s.overlay(to, from, upper, work)
}
