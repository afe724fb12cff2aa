package box

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrLeft says that Remove stopped at its limit of steps before everything was removed.
var ErrLeft = errors.New("more is left than is removed at once")

// Remove removes an entry of a folder with everything in it, in at most so many steps; zero is
// unlimited. All processes of the box must be gone.
//
// A command may leave folders that their owner may not read, or nested so deep that the last one
// cannot be named and [os.RemoveAll] would need a descriptor for each. So Remove moves folders that
// are too deep up before it empties them.
func Remove(folder *os.File, name string, steps int) error {
	at := int(folder.Fd())
	if done, err := removeOne(at, name); done || err != nil {
		return err
	}
	top, err := openToEmpty(at, name)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(top) }()
	r := remover{top: top, left: steps, bounded: steps > 0}
	if err := r.empty(top, 0); err != nil {
		return err
	}
	_, err = removeOne(at, name)
	return err
}

type remover struct {
	top     int // descriptor of the folder that is emptied
	moved   int // how many folders were moved up
	left    int
	bounded bool
}

// maxOpen is the depth down to which folders are emptied in place. Moving a folder up costs more
// than opening it.
const maxOpen = 16

// empty removes everything in a folder. depth is how far it is below the top.
func (r *remover) empty(dir, depth int) error {
	for {
		names, err := someNames(dir)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if r.left--; r.bounded && r.left < 0 {
				return ErrLeft
			}
			if err := r.remove(dir, name, depth); err != nil {
				return err
			}
		}
	}
}

func (r *remover) remove(dir int, name string, depth int) error {
	if done, err := removeOne(dir, name); done || err != nil {
		return err
	}
	fd, err := openToEmpty(dir, name)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if depth == maxOpen {
		return r.moveUp(dir, name)
	}
	if err := r.empty(fd, depth+1); err != nil {
		return err
	}
	_, err = removeOne(dir, name)
	return err
}

func (r *remover) moveUp(dir int, name string) error {
	for {
		r.moved++
		err := unix.Renameat2(dir, name, r.top, "moved-"+strconv.Itoa(r.moved), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}

// removeOne removes a file or an empty folder. It reports false if the folder is not empty.
func removeOne(dir int, name string) (done bool, err error) {
	err = unix.Unlinkat(dir, name, 0)
	if errors.Is(err, unix.EISDIR) {
		err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
	switch {
	case err == nil || errors.Is(err, unix.ENOENT):
		return true, nil
	case errors.Is(err, unix.ENOTEMPTY):
		return false, nil
	}
	return false, &os.PathError{Op: "remove", Path: name, Err: err}
}

// openToEmpty opens a folder, and gives its owner the right to empty it first.
func openToEmpty(dir int, name string) (int, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags|unix.O_PATH, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	if err := os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700); err != nil {
		return -1, err
	}
	return unix.Openat(dir, name, flags|unix.O_RDONLY, 0)
}

// someNames returns some names in a folder; none if it is empty.
func someNames(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	buffer := make([]byte, 16<<10)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if err != nil || n <= 0 {
			return nil, err
		}
		if _, _, names := unix.ParseDirent(buffer[:n], -1, nil); len(names) > 0 {
			return names, nil
		}
	}
}
