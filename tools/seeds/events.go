package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	slashed "path"
	"path/filepath"
	"slices"
	"strings"
)

// An event is one event of «go test -json».
type event struct {
	Action, Test, Output string
}

// An outcome is how the tests of one package ended, and what was printed.
type outcome struct {
	ended   map[string]string // by the test's name: pass, fail or skip
	printed map[string]string // by the test's name; "" for what no test printed
}

// shown is how much of a test's output is repeated.
const shown = 2000

// readEvents reads all events from r. It writes the tests' output to text, unless text is nil. A
// test that ran several times has failed if it failed once, else passed if it passed once.
func readEvents(r *bufio.Reader, text io.Writer) (outcome, error) {
	o := outcome{ended: map[string]string{}, printed: map[string]string{}}
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				e = event{Output: string(line)} // a line of the go command itself, from standard error
			}
			if text != nil {
				if _, err := io.WriteString(text, e.Output); err != nil {
					return o, err
				}
			}
			o.add(e)
		}
		switch {
		case errors.Is(err, io.EOF):
			return o, nil
		case err != nil:
			return o, err
		}
	}
}

func (o outcome) add(e event) {
	if !strings.HasPrefix(e.Output, "=== ") {
		all := o.printed[e.Test] + e.Output
		o.printed[e.Test] = all[max(0, len(all)-shown):]
	}
	was := o.ended[e.Test]
	switch {
	case e.Test == "":
	case e.Action == "fail", e.Action == "pass" && was != "fail", e.Action == "skip" && was == "":
		o.ended[e.Test] = e.Action
	}
}

// left returns which of the named tests did not run: the test itself, or its subtests that were
// skipped.
func (o outcome) left(named []string) []string {
	var all []string
	for _, n := range named {
		ran := false
		for name, how := range o.ended {
			if ran = ran || under(n, name) && how != "skip"; under(n, name) && how == "skip" {
				all = append(all, name)
			}
		}
		if !ran {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// judge returns why a proof is not valid and what to do about it; empty if it is valid.
func (o outcome) judge(p proof) string {
	ran := 0
	for name, how := range o.ended {
		if !under(p.test, name) {
			continue
		}
		switch how {
		case "fail":
			return fmt.Sprintf("%s failed: mend the program or the test, or change the row\n%s", name, o.printed[name])
		case "skip":
			return fmt.Sprintf("%s was skipped, so it proves nothing: give it what it needs, or name a test that runs here\n%s", name, o.printed[name])
		case "pass":
			ran++
		}
	}
	if ran == 0 {
		return "no test of this name ran: it was renamed or removed, or the package does not compile here; name one that there is\n" + o.printed[""]
	}
	return ""
}

// under reports whether a test is the named one or one of its subtests.
func under(named, name string) bool {
	want, have := strings.Split(named, "/"), strings.Split(name, "/")
	if len(have) < len(want) {
		return false
	}
	for i, w := range want {
		if ok, err := slashed.Match(strings.ReplaceAll(w, "[", `\[`), have[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// report prints what is wrong with the proofs, and returns how many are not valid.
func report(out io.Writer, proofs []proof, o outcome) int {
	wrong := 0
	for _, p := range proofs {
		if why := o.judge(p); why != "" {
			wrong++
			fmt.Fprintf(out, "%s:%d: row %s: test %s %s: %s\n", page, p.line, p.row, p.pkg, p.test, strings.TrimSpace(why))
		}
	}
	return wrong
}

// testAll runs the tests of a package that the page names. Tests that start real programs are
// always run, because the go command does not notice that such a program changed.
func testAll(root, pkg string, proofs []proof, fresh bool, system []string) (outcome, error) {
	var remembered, again []string
	for _, name := range names(proofs) {
		top, _, _ := strings.Cut(name, "/")
		if fresh || slices.Contains(system, pkg+" "+top) {
			again = append(again, name)
		} else {
			remembered = append(remembered, name)
		}
	}
	var said bytes.Buffer
	if err := test(&said, root, pkg, remembered); err != nil {
		return outcome{}, err
	}
	if err := test(&said, root, pkg, again, "-count=1"); err != nil {
		return outcome{}, err
	}
	return readEvents(bufio.NewReader(&said), nil)
}

// test runs tests in the package's own module. Failing tests are not an error.
func test(said io.Writer, root, pkg string, names []string, flags ...string) error {
	if len(names) == 0 {
		return nil
	}
	cmd := exec.CommandContext(context.Background(), "go", slices.Concat([]string{"test", "-json", "-run", pattern(names)}, flags, []string{"."})...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	cmd.Stdout, cmd.Stderr = said, said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("go test in %s: %w", pkg, err)
	}
	return nil
}

// hear prints the events of the go command for people, and appends them to a file for «check».
func hear(in io.Reader, out io.Writer, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = readEvents(bufio.NewReader(io.TeeReader(in, f)), out)
	return errors.Join(err, f.Close())
}
