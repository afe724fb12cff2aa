package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// suite prints why a suite has to run, or returns errUnchanged. A suite that is not in .ci/closures
// always runs.
func (d diff) suite(name string, out io.Writer) error {
	if d.why != "" {
		fmt.Fprintln(out, d.why)
		return nil
	}
	about, err := readClosures(d.root)
	if err != nil {
		return err
	}
	parts, ok := about[name]
	if !ok {
		fmt.Fprintln(out, "it always runs")
		return nil
	}
	t, err := listTree(d.root)
	if err != nil {
		return err
	}
	why, err := d.hit(t, parts)
	switch {
	case err != nil:
		return fmt.Errorf(".ci/closures: %s: %w", name, err)
	case why == "":
		return errUnchanged
	}
	fmt.Fprintln(out, why)
	return nil
}

// checkClosures returns an error for each suite, package and file that does not exist.
func checkClosures(root string) error {
	about, err := readClosures(root)
	if err != nil {
		return err
	}
	suites, err := os.ReadFile(filepath.Join(root, mustRun))
	if err != nil {
		return err
	}
	t, err := listTree(root)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(about)) {
		if !slices.Contains(strings.Fields(string(suites)), name) {
			wrong = append(wrong, fmt.Errorf(".ci/closures: %s does not list a suite called %s", mustRun, name))
		}
		if _, err := (diff{root: root}).hit(t, about[name]); err != nil {
			wrong = append(wrong, fmt.Errorf(".ci/closures: %s: %w", name, err))
		}
	}
	return errors.Join(wrong...)
}

// readClosures parses lines «suite: part part …». A line that begins with a space continues the
// previous one.
func readClosures(root string) (map[string][]string, error) {
	text, err := os.ReadFile(filepath.Join(root, ".ci", "closures"))
	if err != nil {
		return nil, err
	}
	about, last := map[string][]string{}, ""
	for i, line := range strings.Split(string(text), "\n") {
		rest := strings.TrimSpace(line)
		if rest == "" || strings.HasPrefix(rest, "#") {
			continue
		}
		if !strings.HasPrefix(line, " ") {
			name, parts, ok := strings.Cut(rest, ":")
			if !ok || about[name] != nil {
				return nil, fmt.Errorf(".ci/closures:%d: want «suite: parts», once each: %q", i+1, rest)
			}
			last, rest = name, parts
			about[last] = []string{}
		}
		about[last] = append(about[last], strings.Fields(rest)...)
	}
	return about, nil
}

// hit returns which part changed; empty if none did. A part is a package with everything it
// imports, «=package» for only the package's own files, «path:FILE» or «path:FOLDER/».
func (d diff) hit(t tree, parts []string) (string, error) {
	touched := t.touched(d)
	for _, part := range parts {
		if path, ok := strings.CutPrefix(part, "path:"); ok {
			if _, err := os.Stat(filepath.Join(d.root, path)); err != nil {
				return "", err
			}
			if file := d.below(path); file != "" {
				return file + " changed", nil
			}
			continue
		}
		dir, alone := strings.CutPrefix(part, "=")
		if _, ok := t[dir]; !ok {
			return "", fmt.Errorf("there is no package %s", dir)
		}
		of := map[string]bool{dir: true}
		if !alone {
			of = t.closure(dir)
		}
		for _, dep := range slices.Sorted(maps.Keys(of)) {
			if touched[dep] {
				return dep + " changed", nil
			}
		}
	}
	return "", nil
}
