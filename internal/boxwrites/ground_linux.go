package boxwrites

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// A ground is a project into which files are moved. Its folder is opened once. Every
// step begins there, and the kernel follows no link on the way: a folder that became
// a link since leads nowhere.
type ground struct {
	root *os.File
	half string // the name of a file until it is whole
}

func openGround(project, half string) (*ground, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, project, &how)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: project, Err: err}
	}
	return &ground{root: os.NewFile(uintptr(fd), project), half: half}, nil
}

// Close closes the project's folder.
func (g *ground) Close() error { return g.root.Close() }

// within calls do with the folder that holds a path, and the path's name there.
func (g *ground) within(p string, do func(dir int, name string) error) error {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	const often = 100 // a rename elsewhere on the disk makes the kernel unsure
	var fd int
	err := unix.EAGAIN
	for i := 0; i < often && errors.Is(err, unix.EAGAIN); i++ {
		var again error
		fd, again = unix.Openat2(int(g.root.Fd()), path.Dir(p), &how)
		if again == nil {
			defer func() { _ = unix.Close(fd) }()
			return do(fd, path.Base(p))
		}
		if !errors.As(again, &err) {
			return again
		}
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return errors.New("a folder on the way to it is none any more")
	}
	return err
}

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
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(fd), name)
	defer in.Close()
	_ = in.Chmod(0o700) // what is in a read-only folder could not be removed
	names, err := in.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := removeAll(fd, n); err != nil {
			return err
		}
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

func isDir(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

// folder makes one. One that is fresh is empty, whatever was in it before.
func (g *ground) folder(p string, mode fs.FileMode, fresh bool) error {
	return g.within(p, func(dir int, name string) error {
		if fresh || !isDir(dir, name) {
			if err := removeAll(dir, name); err != nil {
				return err
			}
		}
		if err := unix.Mkdirat(dir, name, uint32(mode|0o700)); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		return nil
	})
}

func (g *ground) chmod(p string, mode fs.FileMode) error {
	return g.within(p, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.Fchmod(fd, uint32(mode))
	})
}

func (g *ground) link(p, target string) error {
	return g.within(p, func(dir int, name string) error {
		if err := removeAll(dir, name); err != nil {
			return err
		}
		return unix.Symlinkat(target, dir, name)
	})
}

// file puts a file in its place at once, so that nobody reads half of it. Only what is
// git's is waited for until it is on the disk, as git itself does before anything names
// an object: in the box nothing is.
func (g *ground) file(p, from string) error {
	lasts := strings.HasPrefix(p, ".git/")
	return g.within(p, func(dir int, name string) error {
		if isDir(dir, name) {
			if err := removeAll(dir, name); err != nil {
				return err
			}
		}
		for _, attribute := range []string{"user.overlay.origin", "user.overlay.impure"} {
			_ = unix.Lremovexattr(from, attribute)
		}
		info, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) {
			var st unix.Stat_t // it was moved, and that was not written down any more
			return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		}
		if err != nil {
			return err
		}
		if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			if err := os.Chmod(from, info.Mode().Perm()); err != nil {
				return err
			}
		}
		if lasts {
			if err := onDisk(from); err != nil {
				return err
			}
		}
		if err := unix.Renameat(unix.AT_FDCWD, from, dir, name); !errors.Is(err, unix.EXDEV) {
			return err
		}
		return g.copied(dir, name, from, lasts)
	})
}

// copied copies a file from another disk.
func (g *ground) copied(dir int, name, from string, lasts bool) (err error) {
	src, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	_ = unix.Unlinkat(dir, g.half, 0) // of a process that was killed
	fd, err := unix.Openat(dir, g.half, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(info.Mode().Perm()))
	if err != nil {
		return err
	}
	dst := os.NewFile(uintptr(fd), name)
	defer func() {
		if err != nil {
			_ = unix.Unlinkat(dir, g.half, 0)
		}
	}()
	if _, err = io.Copy(dst, src); err == nil && lasts {
		err = dst.Sync()
	}
	if err == nil {
		at := unix.NsecToTimespec(info.ModTime().UnixNano())
		err = unix.UtimesNanoAt(dir, g.half, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return unix.Renameat(dir, g.half, dir, name)
}

// onDisk waits until a file is on its disk.
func onDisk(p string) error {
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
