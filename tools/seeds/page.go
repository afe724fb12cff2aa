package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A proof is one test that a row of the page names. An element «*» in the test's name matches every
// subtest, as in TestMatrix/*/deny.
type proof struct {
	line      int
	row       string
	pkg, test string
}

// readPage returns the tests that rows name. Rows in state part or missing are skipped, because
// their last column is prose.
func readPage(file string) ([]proof, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	proofs, err := parse(text)
	if err == nil && len(proofs) == 0 {
		err = fmt.Errorf("%s names no test: either it or this program is broken", page)
	}
	return proofs, err
}

var (
	row     = regexp.MustCompile(`^\| ([0-4]\.\d\d+) \| .+ \| (\w+) \| (.+) \|$`)
	likeRow = regexp.MustCompile(`^\|\s*\d+\.\d`)
)

func parse(text []byte) ([]proof, error) {
	var proofs []proof
	n := 0
	for line := range bytes.Lines(text) {
		n++
		s := strings.TrimSpace(string(line))
		m := row.FindStringSubmatch(s)
		switch {
		case m == nil && likeRow.MatchString(s):
			return nil, fmt.Errorf("%s:%d: this is no row: write «| 0.00 | behaviour | state | proof |»", page, n)
		case m == nil || m[2] == "part" || m[2] == "missing":
			continue
		}
		for one := range strings.SplitSeq(m[3], "; ") {
			f := strings.Fields(one)
			switch {
			case len(f) == 3 && f[0] == "test":
				proofs = append(proofs, proof{line: n, row: m[1], pkg: f[1], test: f[2]})
			case len(f) == 2 && (f[0] == "story" || f[0] == "decision"):
			default:
				return nil, fmt.Errorf("%s:%d: row %s: %q is no proof: write «story NAME», «test PACKAGE TestName» or «decision 0000», with «; » between them", page, n, m[1], one)
			}
		}
	}
	return proofs, nil
}

func byPackage(proofs []proof) map[string][]proof {
	all := map[string][]proof{}
	for _, p := range proofs {
		all[p.pkg] = append(all[p.pkg], p)
	}
	return all
}

// systemTests returns the tests that start real programs, as «PACKAGE TestName».
func systemTests(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, ".ci", "system"))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(text), "\n"), nil
}

// names returns the names of the tests without duplicates.
func names(proofs []proof) []string {
	var all []string
	for _, p := range proofs {
		all = append(all, p.test)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pattern returns the pattern with which «go test -run» runs exactly these tests. The same names
// give the same pattern, so that the go command can use its cache.
func pattern(names []string) string {
	var all []string
	for _, name := range names {
		elements := strings.Split(name, "/")
		for i, e := range elements {
			elements[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(e), `\*`, ".*") + "$"
		}
		all = append(all, strings.Join(elements, "/"))
	}
	return strings.Join(all, "|")
}
