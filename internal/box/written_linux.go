package box

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// maxChanges bounds what one command may leave.
const maxChanges = 500_000

// Changes are what a command did to the project, folders before what is in
// them. All processes of the box must be gone.
func (s *Spec) Changes() ([]Change, error) {
	var all found
	err := s.changesIn(&all, "")
	parts, _ := os.ReadDir(s.parts())
	for _, p := range parts {
		if err == nil {
			err = s.changesIn(&all, p.Name())
		}
	}
	return all.list, err
}

// A found is the changes of all layers so far, and how many bytes they have.
type found struct {
	list  []Change
	bytes int64
}

// changesIn adds those of one layer, which is the project or an entry of it.
func (s *Spec) changesIn(all *found, entry string) error {
	upper := s.upper()
	if entry != "" {
		upper = s.written(entry)
	}
	return filepath.WalkDir(upper, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(upper, p)
		if err != nil || rel == "." {
			return err
		}
		if len(all.list) == maxChanges {
			return fmt.Errorf("the command changed more than %d files", maxChanges)
		}
		rel = filepath.Join(entry, rel)
		c := Change{Path: filepath.ToSlash(rel)}
		if c.Kind, c.fresh, err = kindOf(p, d); err != nil {
			return err
		}
		if info, err := d.Info(); err != nil {
			return err
		} else if all.bytes += info.Size(); all.bytes > s.Disk && s.Disk > 0 {
			return fmt.Errorf("the command wrote more than %d bytes", s.Disk)
		}
		if c.Kind == Folder && !c.fresh && exists(filepath.Join(s.Project, rel)) {
			return nil // it is only on the way to something
		}
		c.Refused = s.refuses(&c, p)
		all.list = append(all.list, c)
		if c.Refused != "" && c.Kind == Folder {
			return fs.SkipDir
		}
		return nil
	})
}

func exists(p string) bool {
	info, err := os.Lstat(p)
	return err == nil && info.IsDir()
}

// kindOf says what lies in the layer that took the writes.
func kindOf(p string, d fs.DirEntry) (Kind, bool, error) {
	switch t := d.Type(); {
	case t.IsRegular():
		return File, false, nil
	case t.IsDir():
		mark := make([]byte, 8)
		n, err := unix.Lgetxattr(p, "user.overlay.opaque", mark)
		if err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP) {
			return "", false, err
		}
		return Folder, err == nil && string(mark[:n]) == "y", nil
	case t&fs.ModeSymlink != 0:
		return Link, false, nil
	case t&fs.ModeCharDevice != 0:
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return "", false, err
		}
		if st.Rdev == 0 {
			return Gone, false, nil
		}
	}
	return Other, false, nil
}

// refuses says why a change is not moved in, if so.
func (s *Spec) refuses(c *Change, p string) string {
	if !utf8.ValidString(c.Path) { // it would be another one in the plan
		return "its name is no text"
	}
	if why := s.Keep.Refuses(c.Path, c.Kind == Folder); why != "" {
		return why
	}
	switch c.Kind {
	case Other:
		return "it is neither a file nor a folder nor a link"
	case Link:
		to, err := os.Readlink(p)
		if err != nil || !s.leadsInside(c.Path, to) {
			return "it is a link that leads out of the project"
		}
		if strings.HasPrefix(c.Path, ".git/") {
			return "git keeps no links there"
		}
	case File, Folder:
		if s.inBare(path.Dir(c.Path)) || c.Kind == Folder && s.inBare(c.Path) {
			return "it makes a repository inside the project"
		}
		if strings.HasPrefix(c.Path, ".git/") && runsLines(p) {
			return "it tells git to run a command"
		}
	case Gone:
	}
	return ""
}

// leadsInside reports whether a link stays in the project, or leads to a program
// of the system, as those of Python's environments do.
func (s *Spec) leadsInside(at, to string) bool {
	if filepath.IsAbs(to) {
		to = filepath.Clean(to)
		return below(to, s.Project) && to != s.Project || below(to, "/usr/bin") || below(to, "/usr/local/bin")
	}
	return filepath.IsLocal(filepath.Join(filepath.Dir(at), to))
}

// inBare reports whether a folder is a repository by its content: git would take
// its settings from there.
func (s *Spec) inBare(dir string) bool {
	if dir == "." || dir == ".git" || strings.HasPrefix(dir, ".git/") {
		return false
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if !s.afterwards(path.Join(dir, name)) {
			return false
		}
	}
	return true
}

// afterwards reports whether a path exists once all is moved in.
func (s *Spec) afterwards(p string) bool {
	if info, err := os.Lstat(s.written(p)); err == nil {
		return info.Mode()&fs.ModeCharDevice == 0
	}
	_, err := os.Lstat(filepath.Join(s.Project, p))
	return err == nil
}

// runsLines reports a list of steps for git in which one is a command.
func runsLines(p string) bool {
	if !strings.Contains(filepath.Base(p), "todo") {
		return false
	}
	f, err := os.Open(p)
	if err != nil {
		return true
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20+1))
	if err != nil || len(data) > 1<<20 {
		return true
	}
	for line := range bytes.Lines(data) {
		if words := bytes.Fields(line); len(words) > 0 && (string(words[0]) == "exec" || string(words[0]) == "x") {
			return true
		}
	}
	return false
}
