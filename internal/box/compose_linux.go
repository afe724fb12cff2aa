package box

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A project in which something is mounted cannot be the lower layer of an overlay: the kernel does
// not show a box what is under mounts that were made outside. Codex's sandbox always mounts over
// .git, .codex and others; a container often mounts over node_modules. In that case the lower layer
// is a folder into which the small entries of the project are copied, and each large folder is an
// overlay of its own. Such a folder cannot be renamed or removed in the box, only emptied. Entries
// that are mounted read-only stay read-only.

// Limits of what is copied for one command. They take some tenths of a second.
const (
	maxCopies    = 5000
	maxCopyBytes = 128 << 20
)

func (s *Spec) beneath() string { return filepath.Join(s.Folder, "beneath") }
func (s *Spec) parts() string   { return filepath.Join(s.Folder, "parts") }

// mountsInside returns where something is mounted below a folder, as paths relative to it.
func mountsInside(folder string) (list []string, err error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range bytes.Lines(data) {
		const at = 4 // index of the mount point
		f := bytes.Fields(line)
		if len(f) <= at {
			continue
		}
		if rel, below := strings.CutPrefix(plain.Replace(string(f[at])), folder+"/"); below {
			list = append(list, rel)
		}
	}
	return list, nil
}

// An entry is a file or folder in the project's own folder.
type entry struct {
	name  string
	info  fs.FileInfo
	files int
	bytes int64
}

// compose shows the project as one folder of copies and overlays. Entries in which something is
// mounted are never copied, because read-only ones must stay so.
func (s *Spec) compose(mounts []string) error {
	list, err := s.entries()
	if err != nil {
		return err
	}
	if err := os.Mkdir(s.beneath(), 0o700); err != nil {
		return err
	}
	files, room := maxCopies, int64(maxCopyBytes)
	var mounted []entry
	for _, e := range list {
		files, room = files-e.files, room-e.bytes
		foreign := slices.ContainsFunc(mounts, func(m string) bool { return below(m, e.name) })
		if files >= 0 && room >= 0 && !foreign {
			err = s.copyTree(e.name)
		} else {
			mounted = append(mounted, e)
			err = point(filepath.Join(s.beneath(), e.name), e.info.IsDir())
		}
		if err != nil {
			return err
		}
	}
	if err := s.overlay(s.Project, s.beneath(), s.upper(), s.work()); err != nil {
		return err
	}
	for _, e := range mounted {
		if err := s.mountEntry(e); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the entries of the project that can be shown, the smallest first.
func (s *Spec) entries() ([]entry, error) {
	names, err := os.ReadDir(s.Project)
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, n := range names {
		info, err := n.Info()
		if err != nil {
			return nil, err
		}
		e := entry{name: n.Name(), info: info}
		if !info.IsDir() && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		err = filepath.WalkDir(filepath.Join(s.Project, e.name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || e.files > maxCopies {
				e.files = maxCopies + 1 // an unreadable entry is not copied
				return fs.SkipAll
			}
			e.files++
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				e.bytes += info.Size()
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b entry) int { return a.files - b.files })
	return list, nil
}

// mountEntry shows an entry that was not copied. A writable folder becomes an overlay; everything
// else is shown as it is, read-only.
func (s *Spec) mountEntry(e entry) error {
	at := filepath.Join(s.Project, e.name)
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return err
	}
	if e.info.IsDir() && st.Flags&unix.ST_RDONLY == 0 {
		part := filepath.Join(s.parts(), e.name)
		upper, work := filepath.Join(part, "written"), filepath.Join(part, "work")
		if err := os.MkdirAll(upper, 0o700); err != nil {
			return err
		}
		err := s.overlay(at, at, upper, work)
		if !errors.Is(err, unix.EINVAL) {
			return err
		}
		if err := os.RemoveAll(part); err != nil {
			return err
		}
	}
	return s.bind(at, at, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// copyTree copies an entry of the project, without the content of hidden files and folders.
func (s *Spec) copyTree(name string) error {
	return filepath.WalkDir(filepath.Join(s.Project, name), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.Project, p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return s.copyEntry(p, rel, info, slices.Contains(s.Hidden, rel))
	})
}

// copyEntry copies a file, a link or an empty folder to its place in the copy of the project.
// Hidden ones are empty there. Sockets and pipes are left out.
func (s *Spec) copyEntry(p, rel string, info fs.FileInfo, hidden bool) error {
	to := filepath.Join(s.beneath(), rel)
	switch {
	case info.IsDir():
		err := os.Mkdir(to, info.Mode().Perm()|0o700)
		if hidden && err == nil {
			err = fs.SkipDir
		}
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(p)
		if err != nil {
			return err
		}
		return os.Symlink(link, to)
	case !info.Mode().IsRegular():
		return nil
	case hidden:
		return os.WriteFile(to, nil, 0o600)
	}
	return copyPlain(p, to, info)
}

// copyPlain copies a file with its mode and its time, which builds look at.
func copyPlain(from, to string, info fs.FileInfo) error {
	src, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = dst.ReadFrom(src)
	if err = errors.Join(err, dst.Chmod(info.Mode().Perm()), dst.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// A box that outlives its call shows the project by a copy, as it was when the box began. If it
// showed the project itself, it would show secrets that the owner changes, because an editor
// replaces the hidden file by another or uses another name. Dependencies and the repository are too
// large to copy, and are not edited by hand. They are shown by overlays.

// Limits of what is copied for a command in the background. They take about a second.
const (
	maxSnapshot      = 20_000
	maxSnapshotBytes = 512 << 20
)

// notCopied reports whether a folder has files that tools write, not the owner.
func notCopied(name string) bool {
	return slices.Contains([]string{".git", "node_modules", "vendor", ".venv", "target", "__pycache__"}, name)
}

// snapshot shows the project by a copy, read-only.
func (s *Spec) snapshot() error {
	names, files, room := newSecretNames(s.Secret), maxSnapshot, int64(maxSnapshotBytes)
	var shown []string
	err := filepath.WalkDir(s.Project, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil // left out
		} else if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.Project, p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		if files, room = files-1, room-info.Size(); files < 0 || room < 0 {
			return fmt.Errorf("the project is too large for the background: a box copies at most %d files and %d MB, dependencies aside", maxSnapshot, maxSnapshotBytes>>20)
		}
		if d.IsDir() && rel != "." && notCopied(d.Name()) {
			shown = append(shown, p)
			if err := os.Mkdir(filepath.Join(s.beneath(), rel), 0o700); err != nil {
				return err
			}
			return fs.SkipDir
		}
		hidden := slices.Contains(s.Hidden, rel) || !d.IsDir() && names.keep(filepath.Dir(rel), d.Name()) && !onlyCertificates(p)
		return s.copyEntry(p, rel, info, hidden)
	})
	if err != nil {
		return err
	}
	if err := s.bind(s.beneath(), s.Project, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	for _, p := range shown {
		if err := s.through(p); err != nil {
			return err
		}
	}
	return s.restrict(s.Project, unix.MOUNT_ATTR_RDONLY)
}
