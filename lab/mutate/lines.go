package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// A span is some lines of a file.
type span struct {
	file     string
	from, to int
}

// within returns the mutants in the lines that a file lists.
func within(ms []mutant, name string) ([]mutant, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	spans, err := readSpans(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var kept []mutant
	for _, m := range ms {
		for _, s := range spans {
			if m.file == s.file && s.from <= m.line && m.line <= s.to {
				kept = append(kept, m)
				break
			}
		}
	}
	return kept, nil
}

// readSpans reads lines «FILE:FROM-TO».
func readSpans(text string) (spans []span, err error) {
	row := regexp.MustCompile(`^(.+):(\d+)-(\d+)$`)
	for line := range strings.Lines(text) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return nil, fmt.Errorf("want FILE:FROM-TO: %q", line)
		}
		s := span{file: m[1]}
		if s.from, err = strconv.Atoi(m[2]); err != nil {
			return nil, err
		}
		if s.to, err = strconv.Atoi(m[3]); err != nil {
			return nil, err
		}
		spans = append(spans, s)
	}
	return spans, nil
}
