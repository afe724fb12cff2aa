package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// attempt tries one break in a clone of its own.
func attempt(ctx context.Context, o options, b broken) result {
	began, r := time.Now(), result{Name: b.Name, Suite: b.Suite, Who: b.Who, About: b.About}
	err := inClone(ctx, o.root, func(t trial) error {
		if err := b.apply(t.clone); err != nil {
			return err
		}
		if err := commitAll(ctx, t.clone, "break: "+b.Name); err != nil {
			return err
		}
		switch {
		case o.check:
			r.Line = "only compiled"
			return t.compiles(b)
		case b.Who == "gate":
			return t.gate(b, &r)
		default:
			return t.nightly(b, &r)
		}
	})
	return r.end(began, err)
}

// control runs a suite in full in a clone without a break. It must pass.
func control(ctx context.Context, root, suite string) result {
	began, r := time.Now(), result{Name: "control-" + suite, Suite: suite, Who: "nobody", About: "Nothing is broken."}
	err := inClone(ctx, root, func(t trial) error {
		failed, out, err := t.run(suite, nil)
		if err == nil && failed {
			err = fmt.Errorf("it fails without a break: %s", lastLines(out))
		}
		return err
	})
	return r.end(began, err)
}

// A trial is a clone in which something is tried.
type trial struct {
	ctx   context.Context
	clone string
	data  string // the folder with recorded attacks
}

// inClone makes a clone and deletes it afterwards.
func inClone(ctx context.Context, root string, do func(trial) error) error {
	clone, err := newClone(ctx, root)
	if clone != "" {
		defer os.RemoveAll(clone)
	}
	if err != nil {
		return err
	}
	data := os.Getenv("FLOODMARK_PROTECTION_DATA")
	if data == "" {
		data = filepath.Join(root, "..", "shared", "protection") // where .ci/run looks
	}
	return do(trial{ctx, clone, data})
}

// gate returns an error unless the gate runs the suite because of the break and the suite
// fails.
func (t trial) gate(b broken, r *result) error {
	why, runs, err := t.changed(b.Suite)
	switch {
	case err != nil:
		return err
	case !runs:
		return errors.New("the gate does not run the suite after this change: .ci/closures is too narrow")
	}
	r.Because = why
	return t.mustFail(b, nil, "gate", r)
}

// nightly returns an error unless the suite passes in the gate and fails in the nightly run.
func (t trial) nightly(b broken, r *result) error {
	why, runs, err := t.changed(b.Suite)
	if err != nil {
		return err
	}
	r.Because = "unchanged"
	if runs {
		r.Because = why
	}
	// The gate runs two agents even if nothing about agents changed.
	if runs || b.Suite == "agents" {
		failed, out, err := t.run(b.Suite, nil)
		switch {
		case err != nil:
			return err
		case failed:
			r.Noticed = "gate"
			r.Line, _ = find(out, b.Shows)
			return errors.New("the gate notices, too: this entry is one of the gate")
		}
	}
	return t.mustFail(b, []string{"NIGHTLY=1"}, "nightly", r)
}

// mustFail returns an error unless the suite fails and prints a line that matches b.Shows.
func (t trial) mustFail(b broken, env []string, who string, r *result) error {
	failed, out, err := t.run(b.Suite, env)
	if err != nil {
		return err
	}
	if !failed {
		return fmt.Errorf("%s passed: %s", b.Suite, lastLines(out))
	}
	line, ok := find(out, b.Shows)
	if !ok {
		return fmt.Errorf("%s failed, but no line matches %s: %s", b.Suite, b.Shows, lastLines(out))
	}
	r.Noticed, r.Line = who, line
	return nil
}

// changed asks tools/changed, built as .ci/run builds it, whether a suite has to run.
func (t trial) changed(suite string) (why string, runs bool, err error) {
	if _, err := os.Stat(filepath.Join(t.clone, ".cache", "changed")); err != nil {
		out, code, err := command(t.ctx, t.clone, nil, "go", "-C", "tools", "build", "-o", "../.cache/changed", "./changed")
		if err != nil || code != 0 {
			return "", false, fmt.Errorf("build tools/changed: %w %s", err, out)
		}
	}
	out, code, err := command(t.ctx, t.clone, nil, ".cache/changed", "suite", suite)
	if err == nil && code > 1 {
		err = errors.New(strings.TrimSpace(out))
	}
	return strings.TrimSpace(out), code == 0, err
}

// run runs one suite of the gate and reads its row of the table. It is an error if the
// suite did not run.
func (t trial) run(suite string, env []string) (failed bool, out string, err error) {
	if _, err := os.Stat(t.data); err == nil {
		env = append(env, "FLOODMARK_PROTECTION_DATA="+t.data)
	}
	out, code, err := command(t.ctx, t.clone, env, ".ci/run", suite)
	out = strings.ReplaceAll(out, t.clone+"/", "") // the same in every clone
	if err != nil {
		return false, out, err
	}
	row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(suite) + ` +[0-9]+  (.*)$`).FindStringSubmatch(out)
	switch {
	case row != nil && row[1] == "passed" && code == 0:
		return false, out, nil
	case row != nil && row[1] == "FAILED" && code != 0:
		return true, out, nil
	}
	return false, out, fmt.Errorf("%s did not run: %s", suite, lastLines(out))
}

// compiles returns an error if the main module does not compile with the break.
func (t trial) compiles(b broken) error {
	goFiles := false
	for _, e := range b.Edits {
		goFiles = goFiles || strings.HasSuffix(e.file, ".go") && !strings.HasPrefix(e.file, "tools/") && !strings.HasPrefix(e.file, "examples/")
	}
	if !goFiles {
		return nil
	}
	out, code, err := command(t.ctx, t.clone, []string{"GOFLAGS=-trimpath"}, "go", "build", "./...")
	if err == nil && code != 0 {
		err = fmt.Errorf("it does not compile: %s", lastLines(out))
	}
	return err
}

// find returns the first line that matches.
func find(out string, shows *regexp.Regexp) (string, bool) {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); shows.MatchString(line) {
			return line, true
		}
	}
	return "", false
}

// lastLines returns the last 40 lines of an output.
func lastLines(out string) string {
	all := strings.Split(strings.TrimSpace(out), "\n")
	return "\n  " + strings.Join(all[max(0, len(all)-40):], "\n  ")
}
