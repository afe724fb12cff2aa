// Breaks shows that the gate still notices mistakes although it no longer runs every suite
// in full. It breaks the program in the ways that .ci/breaks lists, one at a time, each in
// a clone of HEAD, and runs the suite that has to fail.
//
//	breaks -root DIR                   try every entry
//	breaks -run '^(lint|docs)'         only entries whose name matches
//	breaks -control                    first run each suite in a clone without a break; it must pass
//	breaks -check                      only check that every text to replace is there, and compile
//	breaks -json FILE                  write the results to FILE, and keep those of entries not run now
//
// In each clone docs/evidence/nightly.json names HEAD, so the break is the only change. A
// break with «who: gate» must be noticed by .ci/run. A break with «who: nightly» must pass
// .ci/run and be noticed with NIGHTLY=1.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

// options are the flags.
type options struct {
	root    string
	only    *regexp.Regexp
	control bool
	check   bool
	json    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "breaks:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string, out io.Writer) error {
	var o options
	fs := flag.NewFlagSet("breaks", flag.ContinueOnError)
	fs.StringVar(&o.root, "root", "..", "the repository")
	only := fs.String("run", ".", "only entries whose name matches")
	fs.BoolVar(&o.control, "control", false, "first run each suite without a break")
	fs.BoolVar(&o.check, "check", false, "only apply each break and compile")
	fs.StringVar(&o.json, "json", "", "write the results to this file")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	return run(ctx, o, out)
}

// run tries the chosen entries. It fails if a break was not noticed by the run that has to
// notice it.
func run(ctx context.Context, o options, out io.Writer) error {
	text, err := os.ReadFile(filepath.Join(o.root, breaksFile))
	if err != nil {
		return err
	}
	all, err := readBreaks(string(text))
	if err != nil {
		return err
	}
	commit, err := git(ctx, o.root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	r := report{Suite: "breaks", Commit: commit}
	controlled, wrong := map[string]bool{}, 0
	for _, b := range all {
		if !o.only.MatchString(b.Name) {
			continue
		}
		var tries []func() result
		if o.control && !controlled[b.Suite] {
			controlled[b.Suite] = true
			tries = append(tries, func() result { return control(ctx, o.root, b.Suite) })
		}
		tries = append(tries, func() result { return attempt(ctx, o, b) })
		for _, try := range tries {
			got := try()
			got.Commit = commit
			if ctx.Err() != nil {
				return ctx.Err()
			}
			got.print(out)
			r.Breaks = append(r.Breaks, got)
			if got.Wrong != "" {
				wrong++
			}
		}
	}
	switch {
	case len(r.Breaks) == 0:
		return fmt.Errorf("no entry of %s matches %s", breaksFile, o.only)
	case o.json != "" && !o.check:
		if err := r.write(o.json, all); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d did not do what they have to", wrong, len(r.Breaks))
	}
	return nil
}
