// Changed tells what changed since the commit of the last nightly run, so that the gate repeats
// only what a change could have broken.
//
//	changed packages       folders of packages whose own files, or files of something they or their tests import, changed
//	changed own            folders of packages whose own files changed
//	changed lines          changed lines of Go files that are not tests, one FILE:FROM-TO each
//	changed suite NAME     exit 0 and the reason if the suite has to run, exit 1 if nothing that it is about changed
//	changed nightly        checks docs/evidence/nightly.json: an ancestor of HEAD, every suite of .ci/must-run passed
//	changed closures       checks that .ci/closures names suites, packages and files that exist
//	changed ratchet        checks that no number in .ci/debt is larger than it was then
//	changed date           gives each committed file a time that follows from its content
//
// If it is unknown what changed, everything counts as changed: there was no nightly run, its commit
// is not in this clone, go.mod or the gate itself changed, or NIGHTLY is set.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errUnchanged means that a suite need not run.
var errUnchanged = errors.New("unchanged")

func main() {
	root, err := findRoot()
	if err == nil {
		err = run(root, os.Args[1:], os.Stdout)
	}
	switch {
	case errors.Is(err, errUnchanged):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "changed:", err)
		os.Exit(2)
	}
}

// findRoot finds the root of the repository above the current folder.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".ci", "must-run")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("not inside the repository")
}

func run(root string, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("want packages, own, lines, suite NAME, nightly, closures, ratchet or date")
	}
	switch args[0] {
	case "nightly":
		return checkNightly(root, out)
	case "closures":
		return checkClosures(root)
	case "ratchet":
		return checkRatchet(root, out)
	case "date":
		return date(root)
	}
	d, err := since(root, os.Getenv("NIGHTLY") != "")
	if err != nil {
		return err
	}
	switch {
	case args[0] == "lines":
		return d.lines(out)
	case args[0] == "suite" && len(args) == 2:
		return d.suite(args[1], out)
	case args[0] == "packages" || args[0] == "own":
		t, err := listTree(root)
		if err != nil {
			return err
		}
		for _, dir := range t.dirs(d, args[0] == "own") {
			fmt.Fprintln(out, dir)
		}
		return nil
	}
	return fmt.Errorf("nothing is called %q", strings.Join(args, " "))
}
