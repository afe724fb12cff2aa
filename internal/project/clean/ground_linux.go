package clean

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// A ground is the folder that is cleaned. It is opened once, all paths are opened relative to it,
// and the kernel follows no link on the way.
type ground struct{ fd int }

// An identity shows whether a file is still the same. Programs cannot set the time of the last
// change of a file's status; only the kernel does.
type identity struct {
	dev, ino         uint64
	size             int64
	mode             uint32
	modified, status unix.Timespec
}

func (i identity) changed() time.Time { return time.Unix(i.status.Unix()) }

func identityOf(st *unix.Stat_t) identity {
	return identity{dev: st.Dev, ino: st.Ino, size: st.Size, mode: st.Mode, modified: st.Mtim, status: st.Ctim}
}

func openGround(root string) (*ground, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, root, &how)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	return &ground{fd: fd}, nil
}

func (g *ground) close() { _ = unix.Close(g.fd) }

// open opens a file or folder by its path, without following a link.
func (g *ground) open(p string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	const often = 100 // the kernel returns EAGAIN if something was renamed meanwhile
	err := error(unix.EAGAIN)
	for i := 0; i < often && errors.Is(err, unix.EAGAIN); i++ {
		var fd int
		if fd, err = unix.Openat2(g.fd, path.Clean(p), &how); err == nil {
			return fd, nil
		}
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return -1, errors.New("a folder on the way to it is none any more")
	}
	return -1, err
}

// spellings returns the paths on the disk that catalog.FoldPath maps to p.
func (g *ground) spellings(p string) ([]string, error) {
	at := []string{"."}
	for segment := range strings.SplitSeq(p, "/") {
		var next []string
		for _, dir := range at {
			names, err := g.names(dir)
			if errors.Is(err, unix.ENOENT) || errors.Is(err, errNoFolder) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				if catalog.FoldPath("/"+name) == catalog.FoldPath("/"+segment) {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		at = next
	}
	return at, nil
}

var errNoFolder = errors.New("it is no folder")

// names returns the names in a folder.
func (g *ground) names(dir string) ([]string, error) {
	var st unix.Stat_t
	fd, err := g.open(dir, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	err = unix.Fstat(fd, &st)
	_ = unix.Close(fd)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = errNoFolder
	}
	if err != nil {
		return nil, err
	}
	if fd, err = g.open(dir, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	names, err := f.Readdirnames(MaxFiles + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && len(names) > MaxFiles {
		err = fmt.Errorf("there are more than %d names in it", MaxFiles)
	}
	return names, err
}

// files calls add with each file at and below a path, and stay with each path that cannot be
// removed. It returns the folders, the innermost first.
func (g *ground) files(ctx context.Context, p string, add func(f File, links uint64, size int64) error, stay func(path, why string)) (folders []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fd, err := g.open(p, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		stay(p, reason(err))
		return nil, nil
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	_ = unix.Close(fd)
	if err != nil {
		stay(p, reason(err))
		return nil, nil
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		f := File{Path: p}
		if err := g.look(&f); err != nil {
			stay(p, reason(err))
			return nil, nil
		}
		return nil, add(f, uint64(st.Nlink), st.Size) //nolint:unconvert // narrower on arm64
	}
	names, err := g.names(p)
	if err != nil {
		stay(p, reason(err))
		return nil, nil
	}
	for _, name := range names {
		if strings.EqualFold(name, ".git") {
			stay(p, "it is a repository of its own")
			return nil, nil
		}
	}
	for _, name := range names {
		inner, err := g.files(ctx, path.Join(p, name), add, stay)
		if err != nil {
			return nil, err
		}
		folders = append(folders, inner...)
	}
	return append(folders, p), nil
}

// look sets a file's digest and identity to its present state.
func (g *ground) look(f *File) error {
	fd, err := g.open(f.Path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	f.is = identityOf(&st)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		to := make([]byte, 4096)
		n, err := unix.Readlinkat(fd, "", to)
		f.digest = floodmark.DigestOf("link\x00" + string(to[:max(n, 0)]))
		return err
	case unix.S_IFREG:
	default:
		return errors.New("it is no file")
	}
	f.digest = floodmark.Digest{}
	if st.Size > MaxSmall {
		return nil
	}
	data, is, err := g.read(f.Path)
	if err == nil && is != f.is {
		err = errChanged
	}
	f.digest = floodmark.DigestOf(string(data))
	return err
}

var errChanged = errors.New("it was changed while it was looked at")

// read reads a small file, and returns its content and identity.
func (g *ground) read(p string) ([]byte, identity, error) {
	fd, err := g.open(p, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, identity{}, err
	}
	file := os.NewFile(uintptr(fd), p)
	defer file.Close()
	var before, after unix.Stat_t
	if err := unix.Fstat(fd, &before); err != nil {
		return nil, identity{}, err
	}
	switch {
	case before.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, identity{}, errors.New("it is no file")
	case before.Size > MaxSmall:
		return nil, identity{}, fmt.Errorf("it has more than %d bytes", MaxSmall)
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxSmall+1))
	if err == nil {
		err = unix.Fstat(fd, &after)
	}
	if err == nil && (identityOf(&before) != identityOf(&after) || int64(len(data)) != after.Size) {
		err = errChanged
	}
	return data, identityOf(&after), err
}

// remove removes a file if it is still as it was listed. It first renames the file to a random name
// and checks it again. So the file that it removes is the one that it checked, even if another file
// appears under the old name.
func (g *ground) remove(f File) error {
	now := File{Path: f.Path}
	if err := g.look(&now); errors.Is(err, unix.ENOENT) {
		return nil
	} else if err != nil {
		return err
	}
	if now != f {
		return errors.New("it was changed since it was listed")
	}
	dir, err := g.open(path.Dir(f.Path), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	aside := ".floodmark-clean-" + rand.Text()
	if err := unix.Renameat2(dir, path.Base(f.Path), dir, aside, unix.RENAME_NOREPLACE); err != nil {
		return err
	}
	now = File{Path: path.Join(path.Dir(f.Path), aside)}
	err = g.look(&now)
	now.Path, now.is.status = f.Path, f.is.status // renaming changes the status time
	if err == nil && now == f {
		return unix.Unlinkat(dir, aside, 0)
	}
	if back := unix.Renameat2(dir, aside, dir, path.Base(f.Path), unix.RENAME_NOREPLACE); back != nil {
		return fmt.Errorf("it was changed since it was listed, and is now called %s", aside)
	}
	return errors.New("it was changed since it was listed")
}

// removeFolder removes a folder if nothing is in it.
func (g *ground) removeFolder(p string) {
	if p == "." {
		return
	}
	dir, err := g.open(path.Dir(p), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(dir) }()
	_ = unix.Unlinkat(dir, path.Base(p), unix.AT_REMOVEDIR) // fails if the folder is not empty
}
