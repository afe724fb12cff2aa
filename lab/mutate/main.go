// Mutate breaks the pure packages on purpose, one small change at a time, and
// checks whether a test fails. If no test fails, the line is not tested. Nothing is
// written to the tree: the go command reads each broken file through an overlay.
//
//	mutate -list            print every mutant
//	mutate -n 50 -seed 7    try fifty of them, chosen by the seed
//	mutate -all             try all of them
//
// A mutant that does not compile is not counted. survivors.txt lists the mutants that
// may survive because they change no behaviour that matters, each with the reason.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// options are the flags, checked.
type options struct {
	root     string
	list     bool
	all      bool
	n        int
	seed     uint64
	parallel int
	only     string
	lines    string
	min      float64
	through  string
	json     string
	excuses  string
	timeout  time.Duration
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == limitedWord {
		fmt.Fprintln(os.Stderr, runLimited(os.Args[2:])) // returns only if it cannot start
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func readFlags(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("mutate", flag.ContinueOnError)
	fs.StringVar(&o.root, "root", "", "the module to break (default: the one above the working directory)")
	fs.BoolVar(&o.list, "list", false, "print every mutant and stop")
	fs.BoolVar(&o.all, "all", false, "try every mutant")
	fs.IntVar(&o.n, "n", 50, "how many mutants to try")
	fs.Uint64Var(&o.seed, "seed", 1, "which ones: the same seed chooses the same")
	fs.IntVar(&o.parallel, "parallel", 2, "how many at a time")
	fs.StringVar(&o.only, "only", "", "only mutants whose id contains this")
	fs.StringVar(&o.lines, "lines", "", "only mutants in the lines that this file names, one FILE:FROM-TO each")
	fs.StringVar(&o.through, "through", "kernel,internal/story", "packages whose tests see all others at work")
	fs.Float64Var(&o.min, "min", 0, "fail if less than this percentage was caught")
	fs.StringVar(&o.json, "json", "", "also write the result to this file")
	fs.StringVar(&o.excuses, "survivors", "", "the list of excused survivors (default: lab/mutate/survivors.txt)")
	fs.DurationVar(&o.timeout, "timeout", time.Minute, "how long the tests of one package may take")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 || o.n < 1 || o.parallel < 1 {
		return o, errors.New("want flags only, with -n and -parallel at least 1")
	}
	if o.root == "" {
		root, err := findRoot()
		if err != nil {
			return o, err
		}
		o.root = root
	}
	if o.excuses == "" {
		o.excuses = filepath.Join(o.root, "lab", "mutate", "survivors.txt")
	}
	return o, nil
}

// findRoot returns the nearest folder above the working directory, or the working
// directory itself, that is the floodmark module.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module github.com/floodmark/floodmark\n") {
			return dir, nil
		}
	}
	return "", errors.New("not inside the floodmark module")
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := readFlags(args)
	if err != nil {
		return err
	}
	every, err := collect(o.root)
	if err != nil {
		return err
	}
	excuses, err := readExcuses(o.excuses)
	if err != nil {
		return err
	}
	if err := excuses.check(every); err != nil {
		return err
	}
	chosen := filter(every, o.only)
	if o.lines != "" {
		if chosen, err = within(chosen, o.lines); err != nil {
			return err
		}
		if len(chosen) == 0 {
			fmt.Fprintln(out, "no changed line of a pure package can be broken")
			return nil
		}
	}
	if o.list {
		for _, m := range chosen {
			fmt.Fprintf(out, "%s\t%s\t%s\n", m.ID(), m.Name(), m.Change())
		}
		fmt.Fprintf(out, "%d mutants\n", len(chosen))
		return nil
	}
	result, err := tryAll(ctx, o, chosen, excuses, out)
	if err != nil {
		return err
	}
	return finish(o, result, out)
}

// finish prints the result and writes it to o.json. It returns an error if too few mutants
// were caught.
func finish(o options, r report, out io.Writer) error {
	r.print(out)
	if o.json != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(o.json), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if r.Percent < o.min {
		return fmt.Errorf("%.1f %% caught, want at least %.1f %%", r.Percent, o.min)
	}
	return nil
}

func filter(ms []mutant, part string) []mutant {
	var kept []mutant
	for _, m := range ms {
		if strings.Contains(m.ID(), part) || strings.Contains(m.Name(), part) {
			kept = append(kept, m)
		}
	}
	return kept
}
