package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// A box that outlives its call shows the project as it was when the box began, by a
// copy. If it showed the project itself, it would show a secret that the owner
// writes anew: an editor puts another file in the place of the hidden one, or uses
// another name. Dependencies and the repository are too large to be copied, and
// nobody edits them; they are shown by overlays.

// Limits of what is copied for a command in the background: about a second.
const (
	maxSnapshot      = 20_000
	maxSnapshotBytes = 512 << 20
)

// notCopied reports whether a folder holds what tools write, not the owner.
func notCopied(name string) bool {
	return slices.Contains([]string{".git", "node_modules", "vendor", ".venv", "target", "__pycache__"}, name)
}

// snapshot shows the project by a copy, read-only.
func (s *Spec) snapshot() error {
	names, files, room := newSecretNames(s.Secret), maxSnapshot, int64(maxSnapshotBytes)
	var shown []string
	err := filepath.WalkDir(s.Project, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil // it is not shown
		} else if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.Project, p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // it went away
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
