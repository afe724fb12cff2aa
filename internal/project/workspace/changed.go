package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// maxNames bounds the names of a folder that are compared with a path.
const maxNames = 20_000

// A hunt searches a folder for files that were changed by a run.
type hunt struct {
	done   func() error
	folder string
	since  time.Time
	found  artifact.Altered
	files  int
	moved  string   // a folder that was moved here; its files are reported whatever their times
	built  []string // folders that tools fill with many files, searched last
}

// Changed implements [monitor.Disk]. A folder that tools fill (see [Filled]) is reported as a whole
// if anything in it has changed or could not be read, because a test that loads one of its files
// may load any of them.
func (d *Disk) Changed(ctx context.Context, folder string, since time.Time) artifact.Altered {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	l := hunt{done: ctx.Err, folder: folder, since: since, found: artifact.Altered{Whole: true}}
	l.names(folder)
	if err := filepath.WalkDir(folder, l.visit); err != nil {
		l.found.Whole = false
	}
	l.files = 0
	for _, dir := range l.built {
		if l.touched(dir) {
			l.found.Paths = append(l.found.Paths, filepath.ToSlash(dir)+"/**")
		}
	}
	if len(l.found.Paths) > MaxChanged {
		l.found.Paths, l.found.Whole = l.found.Paths[:MaxChanged], false
	}
	return l.found
}

// visit checks one file or folder.
func (l *hunt) visit(path string, e fs.DirEntry, err error) error {
	if l.files++; err != nil || l.over() || len(l.found.Paths) > MaxChanged {
		l.found.Whole = false
		return filepath.SkipAll
	}
	if root := filepath.Dir(path); e.Name() == ".git" && path != l.folder && root != l.folder {
		l.names(root)
	}
	switch {
	case e.IsDir() && path != l.folder && ofGit(path):
		return filepath.SkipDir
	case e.IsDir() && path != l.folder && Filled(path):
		l.built = append(l.built, path)
		return filepath.SkipDir
	case !e.IsDir() && gitsOwn(path):
		return nil
	}
	info, ok := infoOf(e)
	if l.found.Whole = l.found.Whole && ok; !ok {
		return nil
	}
	within := l.moved != "" && strings.HasPrefix(path, l.moved+string(filepath.Separator))
	switch fresh := l.fresh(info); {
	case !e.IsDir() && (fresh || within):
		l.found.Paths = append(l.found.Paths, filepath.ToSlash(path))
	case e.IsDir() && fresh && info.ModTime().Before(l.since) && !within:
		l.moved = path
	}
	return nil
}

// touched reports whether something in a folder was changed, or may have been.
func (l *hunt) touched(dir string) bool {
	changed := false
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if l.files++; err != nil || l.over() {
			changed = true
			return filepath.SkipAll
		}
		if info, ok := infoOf(e); !ok || l.fresh(info) {
			changed = true
			return filepath.SkipAll
		}
		return nil
	})
	return changed || err != nil
}

func (l *hunt) over() bool { return l.done() != nil || l.files > MaxFiles }

func (l *hunt) fresh(info fs.FileInfo) bool {
	return !info.ModTime().Before(l.since) || !statusTime(info).Before(l.since)
}

func infoOf(e fs.DirEntry) (fs.FileInfo, bool) {
	info, err := e.Info()
	return info, err == nil
}

// Filled reports whether a path is, by its name, a folder that tools fill with many files for
// programs to load.
func Filled(path string) bool {
	return slices.Contains([]string{"node_modules", "vendor", ".venv", "__pycache__", "target"}, filepath.Base(path))
}

// ofGit reports whether a path is a folder in .git that git writes to in every operation.
func ofGit(path string) bool {
	name := filepath.Base(path)
	return filepath.Base(filepath.Dir(path)) == ".git" && name != "hooks" && name != "info"
}

// gitsOwn reports whether a path is a file in .git that git writes in every operation. Git's
// settings are not, because they decide what it runs.
func gitsOwn(path string) bool {
	return filepath.Base(filepath.Dir(path)) == ".git" && !strings.HasPrefix(filepath.Base(path), "config")
}

// Missing implements [artifact.Disk]: it tries every spelling of the path.
func (d *Disk) Missing(path string) bool {
	rest, rooted := strings.CutPrefix(path, "/")
	if !rooted || rest == "" {
		return false
	}
	if _, err := os.Lstat(path); err == nil {
		return false
	}
	spelled, all := spellings(path)
	return all && len(spelled) == 0
}

// spellings returns the paths on the disk that catalog.FoldPath maps to path, and whether these are
// all.
func spellings(path string) (at []string, all bool) {
	rest, rooted := strings.CutPrefix(path, "/")
	if !rooted || rest == "" {
		return nil, false
	}
	at = []string{"/"}
	for segment := range strings.SplitSeq(rest, "/") {
		var next []string
		for _, dir := range at {
			names, all := namesIn(dir)
			if !all {
				return nil, false
			}
			for _, name := range names {
				if catalog.FoldPath("/"+name) == "/"+segment {
					next = append(next, filepath.Join(dir, name))
				}
			}
		}
		if at = next; len(at) == 0 {
			break
		}
	}
	return at, true
}

// namesIn returns the names in a folder, and whether these are all. A file that is no folder has
// none.
func namesIn(dir string) (names []string, all bool) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, err == nil || errors.Is(err, fs.ErrNotExist)
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	names, err = f.Readdirnames(maxNames)
	if errors.Is(err, io.EOF) {
		return nil, true
	}
	return names, err == nil && len(names) < maxNames
}
