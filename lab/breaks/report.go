package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// A report holds the results of all breaks.
type report struct {
	Suite  string   `json:"suite"`
	Commit string   `json:"commit"` // of the last run
	Breaks []result `json:"breaks"`
}

// A result says whether one break was noticed, and by whom.
type result struct {
	Name    string `json:"name"`
	Suite   string `json:"suite"`
	Who     string `json:"who"` // who has to notice
	About   string `json:"about"`
	Commit  string `json:"commit"`
	Because string `json:"because,omitempty"` // why the gate runs the suite, or «unchanged»
	Noticed string `json:"noticed"`           // who noticed
	Line    string `json:"line,omitempty"`    // the line of output that shows the break
	Wrong   string `json:"wrong,omitempty"`
	Seconds int    `json:"seconds"`
}

func (r result) end(began time.Time, err error) result {
	r.Seconds = int(time.Since(began).Seconds())
	if err != nil {
		r.Wrong = err.Error()
	}
	return r
}

// print writes one row of the table.
func (r result) print(out io.Writer) {
	noticed := r.Noticed
	if r.Wrong != "" {
		noticed = "WRONG: " + r.Wrong
	} else if noticed == "" {
		noticed = "nobody"
	}
	fmt.Fprintf(out, "%-34s %-11s %-8s %5d  %s  %s\n", r.Name, r.Suite, r.Who, r.Seconds, noticed, r.Line)
}

// write writes the report to a file. It keeps the old results in the file of listed entries
// that did not run now.
func (r report) write(file string, listed []broken) error {
	var before report
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &before)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", file, err)
	}
	known := map[string]result{}
	for _, old := range append(before.Breaks, r.Breaks...) {
		known[old.Name] = old
	}
	all, suites := []result{}, map[string]bool{}
	for _, b := range listed {
		for _, name := range []string{"control-" + b.Suite, b.Name} {
			if got, ok := known[name]; ok && !suites[name] {
				suites[name] = true
				all = append(all, got)
			}
		}
	}
	r.Breaks = all
	if data, err = json.MarshalIndent(r, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
