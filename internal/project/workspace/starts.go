package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

// Starts implements [artifact.Disk]. If a hooks folder is in the working tree, it returns a pattern
// for all hooks, because a branch or a patch may add one in the same call.
func (d *Disk) Starts(path string, hooks []string) (list []string) {
	root, dir, ok := locate(path)
	if !ok {
		if dir, _ = d.Repository(path); dir == "" {
			return nil
		}
		root = dir // a repository without a working tree
	}
	named := boxgit.Settings(root, d.opts.Home)
	for _, folder := range append(named.Folders, filepath.Join(commonDir(dir), "hooks")) {
		at := d.Resolve(folder)
		if within(at, d.Resolve(root)) && !within(at, d.Resolve(commonDir(dir))) {
			list = append(list, filepath.ToSlash(filepath.Join(folder, "*"))) // stands for all hooks
		}
		list = append(list, hooksIn(folder)...)
	}
	list = slices.DeleteFunc(list, func(hook string) bool { return !boxgit.Runs(hooks, filepath.Base(hook)) })
	for _, file := range named.Files {
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && within(file, root) && !within(file, dir) {
			list = append(list, filepath.ToSlash(file))
		}
	}
	return list
}

// hooksIn returns the hooks in a folder that git would run. If the folder cannot be read, it
// returns a pattern for all hooks.
func hooksIn(folder string) (list []string) {
	names, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []string{filepath.ToSlash(filepath.Join(folder, "*"))}
	}
	for _, e := range names {
		file := filepath.Join(folder, e.Name())
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !strings.HasSuffix(e.Name(), ".sample") {
			list = append(list, filepath.ToSlash(file))
		}
	}
	return list
}
