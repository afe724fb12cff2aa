package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// collect returns every mutant of the pure packages of the module at root, in
// the order of the files.
func collect(root string) ([]mutant, error) {
	doc, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, pkg := range purePackages(string(doc)) {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			ms, err := mutants(pkg, path.Join(pkg, filepath.Base(file)), string(text))
			if err != nil {
				return nil, err
			}
			all = append(all, ms...)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nothing to mutate: are there pure packages in ARCHITECTURE.md?")
	}
	return all, nil
}

// purePackages returns the packages on floors 1 and 2 of the package table in doc, so a new pure
// package need not be added here.
func purePackages(doc string) []string {
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9/-]+)` \\| [12] ")
	var pkgs []string
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		if m[1] == "floodmark" {
			m[1] = "."
		}
		pkgs = append(pkgs, m[1])
	}
	return pkgs
}

// mutants returns every mutant of one file. Generated files have none.
func mutants(pkg, file, text string) ([]mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f) {
		return nil, nil
	}
	g := generator{fset: fset, pkg: pkg, file: file, text: text}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				g.within(g.funcName(d), d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					g.within(v.Names[0].Name, v)
				}
			}
		}
	}
	slices.SortStableFunc(g.found, func(a, b mutant) int { return a.start - b.start })
	return g.found, nil
}

// funcName is the function's name with its receiver: «Label.Join».
func (g *generator) funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	recv := strings.TrimLeft(g.source(d.Recv.List[0].Type), "*")
	recv, _, _ = strings.Cut(recv, "[")
	return fmt.Sprintf("%s.%s", recv, d.Name.Name)
}
