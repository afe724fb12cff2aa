package boxwrites

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

// maxChanges bounds the changes of one command.
const maxChanges = 500_000

// Changes returns what a command did to the project. A folder comes before its content. All
// processes of the box must be gone.
func (w *Writes) Changes() ([]Change, error) {
	all := &found{heads: map[string]bool{}, began: w.since()}
	err := w.changesIn(all, "")
	parts, _ := os.ReadDir(w.parts())
	for _, p := range parts {
		if err == nil {
			err = w.changesIn(all, p.Name())
		}
	}
	if err == nil {
		w.history(all)
	}
	return all.list, err
}

// layered reports whether an entry of the project's folder has a layer of its own.
func (w *Writes) layered(entry string) bool {
	info, err := os.Lstat(filepath.Join(w.parts(), entry))
	return err == nil && info.IsDir()
}

// written returns where a changed path of the project is stored until it is moved in.
func (w *Writes) written(p string) string {
	entry, rest, _ := strings.Cut(p, "/")
	if w.layered(entry) {
		return filepath.Join(w.parts(), entry, "written", rest)
	}
	return filepath.Join(w.upper(), p)
}

// A found holds the changes of all layers read so far, and how many bytes they have.
type found struct {
	list  []Change
	bytes int64
	heads map[string]bool // whether a folder of the project has a HEAD, as far as known
	named *named          // nil until the first change needs it
	began time.Time       // when the command began
}

// changesIn adds the changes of one layer, which belongs to the project or to one entry of it.
func (w *Writes) changesIn(all *found, entry string) error {
	upper := w.upper()
	if entry != "" {
		upper = w.written(entry)
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
		if c.Kind == File && w.object(c.Path) {
			return nil
		}
		if info, err := d.Info(); err != nil {
			return err
		} else if all.bytes += info.Size(); all.bytes > w.Disk && w.Disk > 0 {
			return fmt.Errorf("the command wrote more than %d bytes", w.Disk)
		}
		if c.Kind == Folder && !c.fresh && exists(filepath.Join(w.Project, rel)) {
			return nil // the layer has the folder only because something in it changed
		}
		c.Refused = w.refuses(&c, p, all)
		all.list = append(all.list, c)
		if c.Refused != "" && c.Kind == Folder {
			return fs.SkipDir
		}
		return nil
	})
}

// object reports whether a path is a file of git's objects that the project has already. Its name
// is the hash of its content, so the existing file stays. Git touches a pack in which it finds what
// it would write.
func (w *Writes) object(p string) bool {
	if !strings.HasPrefix(p, ".git/objects/") {
		return false
	}
	info, err := os.Lstat(filepath.Join(w.Project, p))
	return err == nil && info.Mode().IsRegular()
}

func exists(p string) bool {
	info, err := os.Lstat(p)
	return err == nil && info.IsDir()
}

// kindOf returns what a file in the layer means for the project, and for a folder whether its
// former content is gone.
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

// refuses returns why a change is not moved in; empty if it is.
func (w *Writes) refuses(c *Change, p string, all *found) string {
	if !utf8.ValidString(c.Path) { // JSON would change the name in the plan
		return "its name is no text"
	}
	ended := c.Kind == Gone && strings.HasPrefix(c.Path, ".git/") && boxgit.Ends(c.Path[len(".git/"):])
	if why := w.Keep.Refuses(c.Path, c.Kind == Folder); why != "" && !ended {
		return why
	}
	if !strings.HasPrefix(c.Path, ".git/") {
		if w.started(c) {
			return "programs are started or loaded from there by name"
		}
		if w.ofRepository(c.Path, all.heads) {
			return "it lies in a folder with a HEAD, which git takes for a repository"
		}
		if all.named == nil {
			all.named = w.named()
		}
		if all.named.refuses(c) {
			return "settings of git or of another program name it as something to run or obey"
		}
	}
	if c.Kind != Other && !strings.HasPrefix(c.Path, ".git/") && w.overtaken(c, p, all.began) {
		return "it was changed in the project while the command ran: look at it, then make the call again"
	}
	switch c.Kind {
	case Other:
		return "it is neither a file nor a folder nor a link"
	case Link:
		if strings.HasPrefix(c.Path, ".git/") {
			return "git keeps no links there"
		}
		to, err := os.Readlink(p)
		if err != nil {
			return "it cannot be read"
		}
		return w.refusesLink(c.Path, to)
	case File, Folder, Gone:
	}
	return ""
}

// maxDigested bounds the bytes of one command's files that are hashed: a second or two of work.
const maxDigested = 1 << 30

// Digest sets the hashes of the files among changes, before they are moved in. A file that cannot
// be read, or is beyond the limit, gets no hash.
func (w *Writes) Digest(list []Change) {
	room := int64(maxDigested)
	for i := range list {
		if c := &list[i]; c.Kind == File && c.Refused == "" && room > 0 {
			c.SHA256, room = digest(w.written(c.Path), room)
		}
	}
}

// digest returns the hash of a file of at most room bytes, and how many bytes of room are left.
func digest(p string, room int64) (string, int64) {
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", room
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, room+1))
	if err != nil || n > room {
		return "", room - min(n, room)
	}
	return hex.EncodeToString(h.Sum(nil)), room - n
}
