package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/floodmark/floodmark"

// lab is the folder of the module that measures the product. Its packages are called as
// those of the product are, so that they stand in the same tree.
const lab = "lab"

// A tree is the packages of the product and of lab, and what they import of each other.
type tree map[string]pkg // by folder, "." for the root

type pkg struct {
	imports []string // folders
	tests   []string // what its tests import besides
}

// listTree asks the go command, which knows build tags.
func listTree(root string) (tree, error) {
	t := tree{}
	if err := t.list(root); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, lab, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	return t, t.list(filepath.Join(root, lab))
}

// list adds the packages of one module.
func (t tree) list(dir string) error {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list in %s: %w", dir, err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		t[folder(p.ImportPath)] = pkg{imports: ours(p.Imports), tests: ours(slices.Concat(p.TestImports, p.XTestImports))}
	}
}

func ours(imports []string) (folders []string) {
	for _, imp := range imports {
		if imp == module || strings.HasPrefix(imp, module+"/") {
			folders = append(folders, folder(imp))
		}
	}
	return folders
}

func folder(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// owner is the package that a file belongs to: the one of its folder, or of the
// nearest folder above it, because of testdata and embedded files. The root package
// has only its own Go files: the other files of the root belong to no package.
func (t tree) owner(file string) (string, bool) {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, ok := t[dir]; ok {
			return dir, true
		}
	}
	_, ok := t["."]
	return ".", ok && path.Dir(file) == "." && filepath.Ext(file) == ".go"
}

// touched returns the packages that own a changed file.
func (t tree) touched(d diff) map[string]bool {
	own := map[string]bool{}
	for _, file := range d.files {
		if dir, ok := t.owner(file); ok {
			own[dir] = true
		}
	}
	return own
}

// reach adds dir, and everything that it imports, to seen.
func (t tree) reach(dir string, seen map[string]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	for _, imp := range t[dir].imports {
		t.reach(imp, seen)
	}
}

// closure is dir with all that it and its tests are compiled from.
func (t tree) closure(dir string) map[string]bool {
	seen := map[string]bool{}
	t.reach(dir, seen)
	for _, imp := range t[dir].tests {
		t.reach(imp, seen)
	}
	return seen
}

// dirs lists changed packages, as the go command wants those of the product.
func (t tree) dirs(d diff, own bool) (list []string) {
	touched := t.touched(d)
	for dir := range t {
		hit := d.why != "" || touched[dir]
		if !own && !hit {
			for dep := range t.closure(dir) {
				hit = hit || touched[dep]
			}
		}
		if hit {
			list = append(list, "./"+strings.TrimPrefix(dir, "."))
		}
	}
	slices.Sort(list)
	return list
}
