package boxwrites

import (
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

//go:embed data/starters.txt
var starterList string

// A named holds the paths that a file in the project, or a setting of git, names as something to
// run or to obey. They are protected like the file that names them.
type named struct {
	files   map[string]bool
	folders []string
}

// named searches the project as it is without the new files.
func (w *Writes) named() *named {
	n := &named{files: map[string]bool{}}
	var starters [][]string
	for line := range strings.Lines(starterList) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			starters = append(starters, strings.Split(line, "/"))
		}
	}
	_ = filepath.WalkDir(w.Project, func(p string, d fs.DirEntry, err error) error {
		rel, ok := w.within(p)
		if err != nil || !ok {
			return nil //nolint:nilerr // an unreadable file names nothing
		}
		switch {
		case d.Name() == ".git":
			w.settings(n, filepath.Dir(p))
		case d.IsDir() && (d.Name() == "node_modules" || filepath.Base(filepath.Dir(rel)) == ".git" && d.Name() != "hooks" && d.Name() != "info"):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0 && w.guarded(rel):
			w.target(n, p)
		}
		if d.Type().IsRegular() && isOneOf(starters, rel) && !strings.HasSuffix(rel, ".sample") {
			w.words(n, p)
		}
		return nil
	})
	return n
}

// within returns a path relative to the project, and whether it is in the project.
func (w *Writes) within(p string) (rel string, ok bool) {
	rel, err := filepath.Rel(w.Project, p)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// guarded reports whether a program runs or obeys the file at a path.
func (w *Writes) guarded(rel string) bool {
	return strings.HasPrefix(rel, ".git/") || strings.Contains(rel, "/.git/") || w.Keep.Refuses(rel, false) != ""
}

func isOneOf(patterns [][]string, rel string) bool {
	parts := strings.Split(strings.ToLower(rel), "/")
	for _, pattern := range patterns {
		if matches(pattern, parts) {
			return true
		}
	}
	return false
}

// settings adds the paths that settings of git name.
func (w *Writes) settings(n *named, checkout string) {
	found := boxgit.Settings(checkout, w.Home)
	for _, p := range found.Files {
		w.add(n, p, false)
	}
	for _, p := range found.Folders {
		w.add(n, p, true)
	}
}

// maxStarter is how many bytes of a file are searched for names.
const maxStarter = 1 << 20

// words adds the paths that a file names, taken relative to the project and to the file's folder.
func (w *Writes) words(n *named, p string) {
	data, err := os.ReadFile(p)
	if err != nil {
		return
	}
	for _, word := range boxgit.Words(string(data[:min(len(data), maxStarter)])) {
		if filepath.IsAbs(word) {
			w.add(n, word, false)
			continue
		}
		w.add(n, filepath.Join(w.Project, word), false)
		w.add(n, filepath.Join(filepath.Dir(p), word), false)
	}
}

// target adds the target of a link, and every link on the way.
func (w *Writes) target(n *named, p string) {
	for range maxLinks {
		to, err := os.Readlink(p)
		if err != nil {
			return
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p), to)
		}
		p = to
		info, err := os.Stat(p)
		w.add(n, p, err == nil && info.IsDir())
	}
}

// add adds a path, and its target if it is a link. The project itself is added only as a folder of
// hooks; then every file in it may be run.
func (w *Writes) add(n *named, p string, folder bool) {
	list := []string{p}
	if there, err := filepath.EvalSymlinks(p); err == nil && there != p {
		list = append(list, there)
	}
	for _, p := range list {
		rel, ok := w.within(p)
		switch {
		case !ok:
		case folder:
			n.folders = append(n.folders, rel)
		case rel != ".":
			n.files[rel] = true
		}
	}
}

// refuses reports whether a change is at a named path. A link is also refused if it would replace a
// folder above a named path.
func (n *named) refuses(c *Change) bool {
	if n.files[c.Path] && c.Kind != Folder {
		return true
	}
	for _, folder := range n.folders {
		if folder == "." || below(c.Path, folder) {
			return true
		}
	}
	if c.Kind != Link {
		return false
	}
	for _, folder := range n.folders {
		if below(folder, c.Path) {
			return true
		}
	}
	for file := range n.files {
		if below(file, c.Path) {
			return true
		}
	}
	return false
}
