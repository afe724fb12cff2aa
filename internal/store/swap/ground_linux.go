package swap

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// A ground is a folder in which files are changed. It is opened once, and every step starts from
// it. The kernel follows no link on the way, so a folder that has become a link is not entered.
type ground struct{ root *os.File }

func openGround(folder string) (*ground, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, folder, &how)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: folder, Err: err}
	}
	return &ground{root: os.NewFile(uintptr(fd), folder)}, nil
}

// below opens a folder in the ground as a ground of its own.
func (g *ground) below(name string) (*ground, error) {
	fd, err := unix.Openat(int(g.root.Fd()), name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &ground{root: os.NewFile(uintptr(fd), name)}, nil
}

// Close closes the folder.
func (g *ground) Close() error { return g.root.Close() }

// beside reports whether a file of one ground can be renamed into another, because both are on the
// same disk by the same mount.
func (g *ground) beside(o *ground) bool {
	var a, b unix.Statx_t
	for f, st := range map[*ground]*unix.Statx_t{g: &a, o: &b} {
		if unix.Statx(int(f.root.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, st) != nil || st.Mask&unix.STATX_MNT_ID == 0 {
			return false
		}
	}
	return a.Mnt_id == b.Mnt_id && a.Dev_major == b.Dev_major && a.Dev_minor == b.Dev_minor
}

// errWay says that a path can only be reached through a link.
var errWay = errors.New("a folder on the way to it is none any more")

// within calls do with the folder of a path, opened, and with the last name of the path.
func (g *ground) within(p string, do func(dir int, name string) error) error {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	const often = 100 // a rename elsewhere on the disk makes the kernel retry
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
		return errWay
	}
	return err
}

// thing returns what is at a path.
func (g *ground) thing(p string) (t Thing, err error) {
	err = g.within(p, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if t = Of(info); t.Kind == Link {
			to := make([]byte, unix.PathMax)
			n, err := unix.Readlinkat(dir, name, to)
			t.Link = string(to[:max(n, 0)])
			return err
		}
		return nil
	})
	if errors.Is(err, unix.ENOENT) {
		return Thing{}, nil
	}
	return t, err
}

// names returns how many names (hard links) a file has.
func (g *ground) names(p string) (n uint64) {
	_ = g.within(p, func(dir int, name string) error {
		var st unix.Stat_t
		err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		n = uint64(st.Nlink) //nolint:unconvert // narrower on arm64
		return err
	})
	return n
}

// size returns how many bytes a path and everything below it take. It stops counting when there are
// more than room.
func (g *ground) size(p string, room int64) (int64, error) {
	const least = 512 // what a name takes
	n := int64(least)
	err := g.within(p, func(dir int, name string) error {
		var st unix.Stat_t
		if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			n += min(st.Size, st.Blocks*512) // holes in a file take no room
			return nil
		}
		err := each(dir, name, func(at int, inner string) error {
			if n > room {
				return nil
			}
			in := &ground{root: os.NewFile(uintptr(dup(at)), name)}
			defer in.Close()
			more, err := in.size(inner, room-n)
			n += more
			return err
		})
		if errors.Is(err, unix.EACCES) {
			return nil // it can be moved, although its content is unknown
		}
		return err
	})
	return n, err
}

func dup(fd int) int {
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return again
}

// each calls do with all names in a folder.
func each(dir int, name string, do func(at int, inner string) error) error {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	in := os.NewFile(uintptr(fd), name)
	defer in.Close()
	names, err := in.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, inner := range names {
		if err := do(fd, inner); err != nil {
			return err
		}
	}
	return nil
}
