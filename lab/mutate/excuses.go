package main

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// An excuse says why some mutants may survive.
type excuse struct {
	pattern string // as [path.Match] over a mutant's ID or Name
	reason  string
	line    int
}

// excuses is the content of survivors.txt: on each line a pattern, white space, and the
// reason. Empty lines and lines that begin with # are ignored.
type excuses []excuse

func readExcuses(file string) (excuses, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseExcuses(file, string(data))
}

func parseExcuses(file, text string) (es excuses, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: want a pattern and a reason in words", file, n)
		}
		if _, err := path.Match(fields[0], ""); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		es = append(es, excuse{fields[0], strings.Join(fields[1:], " "), n})
	}
	return es, nil
}

// find returns the first excuse for a mutant.
func (es excuses) find(m mutant) (excuse, bool) {
	for _, e := range es {
		if e.covers(m) {
			return e, true
		}
	}
	return excuse{}, false
}

func (e excuse) covers(m mutant) bool {
	byPlace, _ := path.Match(e.pattern, m.ID()) // the pattern was checked when it was read
	byName, _ := path.Match(e.pattern, m.Name())
	return byPlace || byName
}

// check returns an error if an excuse matches no mutant.
func (es excuses) check(all []mutant) error {
	for _, e := range es {
		used := false
		for _, m := range all {
			used = used || e.covers(m)
		}
		if !used {
			return fmt.Errorf("survivors.txt:%d: no mutant matches %s any more", e.line, e.pattern)
		}
	}
	return nil
}
