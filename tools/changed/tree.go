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

// lab is the folder of the module that measures the product. Its import paths begin like the
// product's, so its packages are in the same tree.
const lab = "lab"

// A tree has the packages of the product and of lab, with what they import of each other.
type tree map[string]pkg // by folder, "." for the root

type pkg struct {
	imports []string // folders
	tests   []string // what only its tests import
}

// listTree lists the packages with the go command, which considers build tags.
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

// owner returns the package that a file belongs to: the package in its folder, or in the nearest
// folder above, because of testdata and embedded files. Of the files in the root, only Go files
// belong to the root package; the others belong to none.
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

// reach adds dir and everything it imports to seen.
func (t tree) reach(dir string, seen map[string]bool) {
	if seen[dir] {
		return
	}
	seen[dir] = true
	for _, imp := range t[dir].imports {
		t.reach(imp, seen)
	}
}

// closure returns dir and everything that it and its tests are compiled from.
func (t tree) closure(dir string) map[string]bool {
	seen := map[string]bool{}
	t.reach(dir, seen)
	for _, imp := range t[dir].tests {
		t.reach(imp, seen)
	}
	return seen
}

// dirs lists the changed packages as arguments for the go command.
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
