package swap

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// remove removes a path with all that is in it.
func (g *ground) remove(p string) error {
	err := g.within(p, removeAll)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// removeAll removes a name in a folder with all that is in it.
func removeAll(dir int, name string) error {
	err := unix.Unlinkat(dir, name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !isDir(dir, name) {
		return err
	}
	_ = unix.Fchmodat(dir, name, 0o700, 0) // otherwise the content of a read-only folder could not be removed
	if err := each(dir, name, removeAll); err != nil {
		return err
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

func isDir(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// mkdir makes a folder, if there is none yet.
func (g *ground) mkdir(p string, mode fs.FileMode) error {
	return g.within(p, func(dir int, name string) error {
		err := unix.Mkdirat(dir, name, uint32(mode.Perm()))
		if errors.Is(err, unix.EEXIST) && isDir(dir, name) {
			return nil
		}
		if err != nil {
			return err
		}
		return unix.Fchmodat(dir, name, uint32(mode.Perm()), 0) // regardless of the umask
	})
}

func (g *ground) rmdir(p string) error {
	return g.within(p, func(dir int, name string) error { return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) })
}

// chmod gives a folder or file its mode.
func (g *ground) chmod(p string, mode fs.FileMode) error {
	return g.within(p, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.Fchmod(fd, uint32(mode.Perm()))
	})
}

// both calls do with the folders and names of two paths.
func (g *ground) both(p string, o *ground, q string, do func(from int, a string, to int, b string) error) error {
	return g.within(p, func(from int, a string) error {
		return o.within(q, func(to int, b string) error { return do(from, a, to, b) })
	})
}

// move renames a path into another ground, and replaces a file that is there.
func (g *ground) move(p string, o *ground, q string) error {
	err := g.both(p, o, q, func(from int, a string, to int, b string) error { return renamed(from, a, to, b, 0) })
	if errors.Is(err, unix.EXDEV) {
		return g.across(p, o, q, 0)
	}
	return err
}

// across moves a path to another mount by copying. It is needed if something is mounted in the
// folder.
func (g *ground) across(p string, o *ground, q string, flags uint) error {
	half := path.Join(path.Dir(q), shopName+"half")
	err := errors.Join(o.remove(half), g.copy(p, o, half))
	if err == nil && lasts(q) {
		err = o.onDisk(half)
	}
	if err != nil {
		return errors.Join(err, o.remove(half))
	}
	err = o.both(half, o, q, func(from int, a string, to int, b string) error { return renamed(from, a, to, b, flags) })
	if err != nil {
		return errors.Join(err, o.remove(half))
	}
	return g.remove(p)
}

// moveNew is move, but fails if something is at the new path.
func (g *ground) moveNew(p string, o *ground, q string) error {
	err := g.both(p, o, q, func(from int, a string, to int, b string) error {
		err := renamed(from, a, to, b, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EINVAL) { // not every disk knows how
			var st unix.Stat_t
			if unix.Fstatat(to, b, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
				return unix.EEXIST
			}
			return renamed(from, a, to, b, 0)
		}
		return err
	})
	if errors.Is(err, unix.EXDEV) {
		return g.across(p, o, q, unix.RENAME_NOREPLACE)
	}
	return err
}

// renamed renames a path. Renaming a folder changes its entry «..», so a folder that its owner may
// not write to is made writable for that moment.
func renamed(from int, a string, to int, b string, flags uint) error {
	err := unix.Renameat2(from, a, to, b, flags)
	if !errors.Is(err, unix.EACCES) || !isDir(from, a) {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(from, a, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	mode := st.Mode & 0o7777
	if err := unix.Fchmodat(from, a, mode|0o700, 0); err != nil {
		return err
	}
	if err := unix.Renameat2(from, a, to, b, flags); err != nil {
		return errors.Join(err, unix.Fchmodat(from, a, mode, 0))
	}
	return unix.Fchmodat(to, b, mode, 0)
}

// onDisk waits until the files at a path are on their disk.
func (g *ground) onDisk(p string) error {
	t, err := g.thing(p)
	if err != nil || t.Kind == Link {
		return err
	}
	return g.within(p, func(dir int, name string) error {
		if t.Kind == Folder {
			return each(dir, name, func(_ int, inner string) error { return g.onDisk(path.Join(p, inner)) })
		}
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EACCES) {
			return nil // git cannot read it either
		}
		if err != nil {
			return err
		}
		return errors.Join(unix.Fsync(fd), unix.Close(fd))
	})
}

// link gives a file a second name.
func (g *ground) link(p string, o *ground, q string) error {
	return g.both(p, o, q, func(from int, a string, to int, b string) error { return unix.Linkat(from, a, to, b, 0) })
}

// copy copies a file, a link or a folder with all that is in it.
func (g *ground) copy(p string, o *ground, q string) error {
	t, err := g.thing(p)
	if err != nil {
		return err
	}
	switch t.Kind {
	case File:
		return g.both(p, o, q, copyFile)
	case Link:
		return o.within(q, func(dir int, name string) error { return unix.Symlinkat(t.Link, dir, name) })
	case Folder:
		if err := o.mkdir(q, 0o700); err != nil {
			return err
		}
		err := g.within(p, func(dir int, name string) error {
			return each(dir, name, func(_ int, inner string) error { return g.copy(path.Join(p, inner), o, path.Join(q, inner)) })
		})
		if err != nil {
			return err
		}
		return o.chmod(q, t.Mode)
	case Other:
	}
	return errors.New("it is neither a file nor a folder nor a link")
}

// copyFile copies a file with its mode and time.
func copyFile(from int, a string, to int, b string) (err error) {
	fd, err := unix.Openat(from, a, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	src := os.NewFile(uintptr(fd), a)
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if fd, err = unix.Openat(to, b, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600); err != nil {
		return err
	}
	dst := os.NewFile(uintptr(fd), b)
	_, err = io.Copy(dst, io.LimitReader(src, info.Size()))
	if err == nil {
		err = unix.Fchmod(fd, uint32(info.Mode().Perm()))
	}
	if err == nil {
		at := unix.NsecToTimespec(info.ModTime().UnixNano())
		err = unix.UtimesNanoAt(to, b, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	}
	return errors.Join(err, dst.Close())
}
