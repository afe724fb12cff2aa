// Seeds runs the tests that docs/reference/seeds.md names as proofs. It fails if one of them did
// not pass; a test that was skipped or does not exist proves nothing. The stories that the page
// names are run by «go test ./internal/story».
//
//	seeds run [-fresh]         run them, package by package; -fresh believes no earlier result
//	seeds hear FILE            print what «go test -json» says on standard input, and add it to FILE
//	seeds left PACKAGE FILE    print a pattern for -run: what of the tests named of PACKAGE did not run in FILE
//	seeds check PACKAGE FILE   fail if a test named of PACKAGE did not pass in FILE
//
// The suite of .ci/agents installs real agents and runs the tests that need them. Those tests are
// recorded there with «hear» and are not run again.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// page is the page that is read, relative to the repository.
const page = "docs/reference/seeds.md"

// elsewhere returns the suite that runs and checks the tests of a package; empty if this program
// does.
func elsewhere(pkg string) string {
	if pkg == "lab/e2e" {
		return "agents"
	}
	return ""
}

func main() {
	root, err := findRoot()
	if err == nil {
		err = run(root, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
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

func run(root string, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "hear":
		return hear(os.Stdin, os.Stdout, args[1])
	case len(args) == 1 && args[0] == "run", len(args) == 2 && args[0] == "run" && args[1] == "-fresh":
		return runAll(root, len(args) == 2, os.Stdout)
	case len(args) == 3 && (args[0] == "left" || args[0] == "check"):
		return heard(root, args[0] == "left", args[1], args[2])
	}
	return errors.New("want run [-fresh], hear FILE, left PACKAGE FILE or check PACKAGE FILE")
}

// runAll runs every test that the page names, and prints what is wrong with them.
func runAll(root string, fresh bool, out io.Writer) error {
	proofs, err := readPage(filepath.Join(root, page))
	if err != nil {
		return err
	}
	system, err := systemTests(root)
	if err != nil {
		return err
	}
	all, run, wrong := byPackage(proofs), 0, 0
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		if suite := elsewhere(pkg); suite != "" {
			fmt.Fprintf(out, "%d tests of %s: the suite %s runs them\n", len(names(all[pkg])), pkg, suite)
			continue
		}
		o, err := testAll(root, pkg, all[pkg], fresh, system)
		if err != nil {
			return err
		}
		run += len(names(all[pkg]))
		wrong += report(out, all[pkg], o)
	}
	fmt.Fprintf(out, "%d tests that %s names, %d proofs that are none\n", run, page, wrong)
	if wrong > 0 {
		return fmt.Errorf("rows of %s are not proved by what they name", page)
	}
	return nil
}

// heard checks what another suite ran.
func heard(root string, left bool, pkg, file string) error {
	proofs, err := readPage(filepath.Join(root, page))
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	o, err := readEvents(bufio.NewReader(f), nil)
	if err != nil {
		return err
	}
	mine := byPackage(proofs)[pkg]
	if len(mine) == 0 {
		return fmt.Errorf("%s names no test of %s", page, pkg)
	}
	if left {
		fmt.Println(pattern(o.left(names(mine))))
		return nil
	}
	if wrong := report(os.Stdout, mine, o); wrong > 0 {
		return fmt.Errorf("rows of %s are not proved by what they name", page)
	}
	fmt.Printf("%d tests of %s that %s names have passed\n", len(names(mine)), pkg, page)
	return nil
}
