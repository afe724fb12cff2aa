package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const debtFile = ".ci/debt"

// checkRatchet compares .ci/debt with its state at the last nightly run, or if there was none, in
// the parent of this commit. For each kind of debt the sum may not grow. An entry may grow if the
// sum of its kind does not, because a package may have been renamed.
func checkRatchet(root string, out io.Writer) error {
	n, err := readNightly(root)
	if errors.Is(err, fs.ErrNotExist) {
		n.Commit = "HEAD^"
	} else if err != nil {
		return err
	}
	if isShallow(root) {
		fmt.Fprintln(out, "no earlier debt to compare with: this clone has no past")
		return nil
	}
	before, err := git(root, "show", n.Commit+":"+debtFile)
	if err != nil {
		return fmt.Errorf("no earlier debt to compare with: %w", err)
	}
	now, err := os.ReadFile(filepath.Join(root, debtFile))
	if err != nil {
		return err
	}
	return compareDebt(before, string(now))
}

// compareDebt returns an error for each entry that grew, in the kinds whose sum grew.
func compareDebt(before, now string) error {
	old, err := readDebt(before)
	if err != nil {
		return err
	}
	fresh, err := readDebt(now)
	if err != nil {
		return err
	}
	var grown []error
	for _, kind := range slices.Sorted(maps.Keys(fresh)) {
		if sum(fresh[kind]) <= sum(old[kind]) {
			continue
		}
		for _, where := range slices.Sorted(maps.Keys(fresh[kind])) {
			if is, was := fresh[kind][where], old[kind][where]; is > was {
				grown = append(grown, fmt.Errorf("%s: %s of %s may only shrink: %d, was %d", debtFile, kind, where, is, was))
			}
		}
	}
	return errors.Join(grown...)
}

// readDebt parses lines «kind where number».
func readDebt(text string) (map[string]map[string]int, error) {
	debt := map[string]map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("%s:%d: want «kind where number»: %q", debtFile, i+1, line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", debtFile, i+1, err)
		}
		if debt[f[0]] == nil {
			debt[f[0]] = map[string]int{}
		}
		debt[f[0]][f[1]] = n
	}
	return debt, nil
}

func sum(of map[string]int) (n int) {
	for _, v := range of {
		n += v
	}
	return n
}
