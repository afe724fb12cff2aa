package boxwrites

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

// maxHeld is the size of the largest file that is compared with a commit's.
const maxHeld = 64 << 20

// history marks the changes of git's folder that are not kept. It also sorts the list, objects
// first and the rest of git's folder last, so that whatever names an object is moved in after it.
func (w *Writes) history(all *found) {
	list := all.list
	var changes []boxgit.Change
	var at []int
	for i := range list {
		c := &list[i]
		rest, ok := strings.CutPrefix(c.Path, ".git/")
		if !ok || c.Kind == Link || c.Kind == Other {
			continue
		}
		is := boxgit.AFile
		switch {
		case c.Kind == Folder && strings.HasPrefix(rest+"/", "objects/"):
			is, c.fresh = boxgit.AFolder, false // no object is removed
		case c.Kind == Folder && c.fresh:
			is = boxgit.AFreshFolder
		case c.Kind == Folder:
			is = boxgit.AFolder
		case c.Kind == Gone:
			is = boxgit.Gone
		}
		changes = append(changes, boxgit.Change{Path: rest, From: w.written(c.Path), Is: is, Stale: w.overtaken(c, w.written(c.Path), all.began)})
		at = append(at, i)
	}
	links := map[string]bool{}
	for _, c := range list {
		links[c.Path] = c.Kind == Link && c.Refused == ""
	}
	r := boxgit.Repository{
		Git: filepath.Join(w.Project, ".git"), Folder: filepath.Join(w.Folder, "history"),
		Guards: func(p string) bool {
			if all.named == nil {
				all.named = w.named()
			}
			return !utf8.ValidString(p) || w.Keep.Refuses(p, false) != "" || w.ofRepository(p, all.heads) || all.named.refuses(&Change{Path: p, Kind: File})
		},
		Has: func(p, mode, id string) bool {
			return holds(filepath.Join(w.Project, p), mode, id) || links[p] && holds(w.written(p), mode, id)
		},
		Lies: func(p, mode, id string) bool { return w.lies(list, p, mode, id) },
	}
	if len(changes) > 0 {
		_ = os.RemoveAll(r.Folder) // left by a box that was killed
		for i, why := range r.Check(changes) {
			list[at[i]].Refused = cmp.Or(why, list[at[i]].Refused)
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(turn(a.Path), turn(b.Path)) })
}

// lies reports whether a path will have a file with this mode and content once all changes that are
// not refused are made. An empty mode asks whether there will be no file.
func (w *Writes) lies(list []Change, p, mode, id string) bool {
	gone := false
	for i := range list {
		c := &list[i]
		switch {
		case c.Refused != "":
		case c.Path == p && (c.Kind == File || c.Kind == Link):
			return holds(w.written(p), mode, id)
		case c.Kind == Gone || c.fresh:
			gone = gone || c.Path == p || strings.HasPrefix(p, c.Path+"/")
		}
	}
	if gone {
		return mode == ""
	}
	return holds(filepath.Join(w.Project, p), mode, id)
}

// turn returns the place of a change in the order of the moves.
func turn(p string) int {
	switch {
	case p == ".git" || strings.HasPrefix(p+"/", ".git/objects/"):
		return 0
	case strings.HasPrefix(p, ".git/"):
		return 2
	}
	return 1
}

// holds reports whether a path has a file with this mode and content, both as git names them. An
// empty mode asks whether there is no file.
func holds(p, mode, id string) bool {
	info, err := os.Lstat(p)
	if err != nil {
		return mode == "" && os.IsNotExist(err)
	}
	switch {
	case mode == "120000" && info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(p)
		return err == nil && boxgit.Blob([]byte(to)) == id
	case !strings.HasPrefix(mode, "100") || !info.Mode().IsRegular() || info.Size() > maxHeld:
		return false
	}
	f, err := os.OpenFile(p, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	return err == nil && n == len(data) && boxgit.Blob(data) == id
}
