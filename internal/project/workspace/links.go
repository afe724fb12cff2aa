package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
)

// The limits of a search for links: agents' folders contain few links and many other files.
const (
	maxLinkFiles  = 4_000
	maxLinkLevels = 3
)

// Links implements [artifact.Disk]. Broken links are left out.
func (d *Disk) Links(folder string, deep bool) map[string]string {
	found := map[string]string{}
	n := 0
	var look func(dir string, levels int)
	look = func(dir string, levels int) {
		f, err := os.Open(dir)
		if err != nil {
			return
		}
		entries, _ := f.ReadDir(maxLinkFiles - n + 1)
		_ = f.Close()
		for _, e := range entries {
			if n++; n > maxLinkFiles {
				return
			}
			p := filepath.Join(dir, e.Name())
			switch {
			case e.Type()&fs.ModeSymlink != 0:
				if to, err := filepath.EvalSymlinks(p); err == nil {
					found[filepath.ToSlash(p)] = filepath.ToSlash(to)
				}
			case e.IsDir() && deep && levels > 0 && e.Name() != ".git":
				look(p, levels-1)
			}
		}
	}
	if info, err := os.Lstat(folder); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if to, err := filepath.EvalSymlinks(folder); err == nil {
			found[filepath.ToSlash(folder)] = filepath.ToSlash(to)
		}
		return found
	}
	if deep || filepath.Dir(folder) != folder {
		look(folder, maxLinkLevels)
	}
	return found
}
