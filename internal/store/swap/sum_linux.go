package swap

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// sum returns the hash of everything at a path: kinds, modes, names, links and content.
func (g *ground) sum(p string) (string, error) {
	h := sha256.New()
	err := g.sumInto(h, p)
	return hex.EncodeToString(h.Sum(nil)), err
}

func (g *ground) sumInto(h hash.Hash, p string) error {
	t, err := g.thing(p)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%s %o %d %d %q\n", t.Kind, t.Mode, t.Size, t.Time.UnixNano(), t.Link)
	switch t.Kind {
	case File:
		return g.within(p, func(dir int, name string) error {
			fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			f := os.NewFile(uintptr(fd), name)
			defer f.Close()
			n, err := io.Copy(h, io.LimitReader(f, t.Size))
			if err == nil && n != t.Size {
				err = io.ErrUnexpectedEOF
			}
			return err
		})
	case Folder:
		var names []string
		err := g.within(p, func(dir int, name string) error {
			return each(dir, name, func(_ int, inner string) error { names = append(names, inner); return nil })
		})
		if err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(h, "%d:%s\n", len(name), name)
			if err := g.sumInto(h, path.Join(p, name)); err != nil {
				return err
			}
		}
		fmt.Fprintln(h, "end")
		return nil
	case Link:
		return nil
	case Other:
	}
	return errors.New("it is neither a file nor a folder nor a link")
}

// errForged says that kept files are not what the swap kept.
var errForged = errors.New("what was kept has been changed since")

// Adopt takes over what a swap kept in a folder that others can write to. The swap's record must
// have the given hash, and the kept files must match the record.
func (s *Swap) Adopt(from, record string) error {
	other := &Swap{Folder: from, Name: s.Name}
	if sum, err := fileSum(other.done()); err != nil || sum != record {
		return errors.Join(errForged, err)
	}
	p, err := other.read(other.done())
	if err != nil {
		return err
	}
	there, err := openGround(from)
	if err != nil {
		return err
	}
	defer there.Close()
	here, err := openGround(s.Folder)
	if err != nil {
		return err
	}
	defer here.Close()
	if p.Unkept == "" {
		if n, err := there.size(s.kept(), 2*p.Limit); err != nil || n > 2*p.Limit {
			return errors.Join(errForged, err)
		}
		if err := there.copy(s.kept(), here, s.kept()); err != nil {
			return err
		}
		if sum, err := here.sum(s.kept()); err != nil || sum != p.Sum {
			return errors.Join(errForged, err, here.remove(s.kept()))
		}
	}
	// The record was read twice, so it may have changed in between. It is the one that was hashed
	// if it still has that hash.
	if err := s.write(s.done(), p); err != nil {
		return err
	}
	if sum, err := fileSum(s.done()); err != nil || sum != record {
		return errors.Join(errForged, err, os.Remove(s.done()))
	}
	return nil
}

// Seal adds the hash of the kept files to the record, and returns the hash of the record for
// [Swap.Adopt]. It returns an empty hash if there is no record.
func (s *Swap) Seal() (record string, err error) {
	p, err := s.Done()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if p.Unkept == "" {
		here, err := openGround(s.Folder)
		if err != nil {
			return "", err
		}
		defer here.Close()
		if p.Sum, err = here.sum(s.kept()); err != nil {
			return "", err
		}
	}
	if err := s.write(s.done(), p); err != nil {
		return "", err
	}
	return fileSum(s.done())
}

func fileSum(p string) (string, error) {
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxPlan)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
