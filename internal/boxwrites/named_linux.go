package boxwrites

import (
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/boxgit"
)

//go:embed data/starters.txt
var starterList string

// A named is what something in the project, or a setting of git, leads to: it is run
// or obeyed like what leads there.
type named struct {
	files   map[string]bool
	folders []string
}

// named looks through the project, as it is without what was written.
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
			return nil //nolint:nilerr // what cannot be read leads nowhere
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

// within is a path as one of the project.
func (w *Writes) within(p string) (rel string, ok bool) {
	rel, err := filepath.Rel(w.Project, p)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// guarded reports whether something runs or obeys what lies at a path.
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

// settings notes what those of git name.
func (w *Writes) settings(n *named, checkout string) {
	found := boxgit.Settings(checkout, w.Home)
	for _, p := range found.Files {
		w.add(n, p, false)
	}
	for _, p := range found.Folders {
		w.add(n, p, true)
	}
}

// maxStarter is how much of a file is read for what it names.
const maxStarter = 1 << 20

// words notes what a file names, seen from the project or from its own folder.
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

// target notes what a link leads to, and every link on the way.
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

// add notes a path, and where it leads. The project itself is nothing that is run,
// except as a folder of hooks: then all of it may be.
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

// refuses reports whether a change is one of what is named. A link must not stand in
// the place of a folder on the way to it.
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
