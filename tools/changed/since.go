package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	nightlyFile = "docs/evidence/nightly.json"
	mustRun     = ".ci/must-run"
)

// A nightly is a whole run of the gate, as .ci/run recorded it.
type nightly struct {
	Commit  string            `json:"commit"`
	Seconds int               `json:"seconds"`
	Suites  map[string]result `json:"suites"`
}

type result struct {
	Seconds int    `json:"seconds"`
	Result  string `json:"result"`
}

// A diff is what changed since the last nightly run.
type diff struct {
	root  string
	base  string   // the commit of the nightly run
	why   string   // why everything counts as changed; empty if files lists what changed
	files []string // changed, added and deleted files, slash-separated
}

func readNightly(root string) (nightly, error) {
	var n nightly
	data, err := os.ReadFile(filepath.Join(root, nightlyFile))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return n, fmt.Errorf("%s: %w", nightlyFile, err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(n.Commit) { // «HEAD» would always be an ancestor
		return n, fmt.Errorf("%s: commit %q is no hash: run «make nightly»", nightlyFile, n.Commit)
	}
	return n, nil
}

// gateItself lists the files that say how suites run and what the linter reports. If one of them
// changed, all suites run.
func gateItself() []string {
	return []string{
		"go.mod", "go.sum", "go.work", "go.work.sum", ".gitattributes",
		".ci/run", ".ci/memory", ".ci/closures", ".ci/must-run", ".ci/each-module", ".ci/fuzz", ".ci/not-raced",
		"tools/changed/", "tools/go.mod", "tools/go.sum", "lab/go.mod", "lab/go.sum", ".golangci.yml",
	}
}

// since compares the working tree with the commit of the last nightly run.
func since(root string, everything bool) (diff, error) {
	d := diff{root: root}
	if everything {
		d.why = "this is the nightly run"
		return d, nil
	}
	n, err := readNightly(root)
	if errors.Is(err, fs.ErrNotExist) {
		d.why = "there was no nightly run"
		return d, nil
	} else if err != nil {
		return d, err
	}
	if !isAncestor(root, n.Commit) {
		d.why = "the commit of the last nightly run is not among our ancestors"
		return d, nil
	}
	d.base = n.Commit
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "-z", n.Commit, "--"},
		{"ls-files", "--others", "--exclude-standard", "-z"},
	} {
		out, err := git(root, args...)
		if err != nil {
			return d, err
		}
		for file := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
			if file != "" && file != nightlyFile && !slices.Contains(d.files, file) {
				d.files = append(d.files, file)
			}
		}
	}
	for _, path := range gateItself() {
		if file := d.below(path); file != "" {
			d.why = file + " changed"
			break
		}
	}
	return d, nil
}

// below returns a changed file that is path or, if path ends with a slash, in that folder; empty if
// there is none.
func (d diff) below(path string) string {
	for _, file := range d.files {
		if file == path || strings.HasSuffix(path, "/") && strings.HasPrefix(file, path) {
			return file
		}
	}
	return ""
}

// lines prints the lines that were added or changed. If everything counts as changed, it prints
// nothing.
func (d diff) lines(out io.Writer) error {
	if d.base == "" {
		return nil
	}
	text, err := git(d.root, "diff", "--text", "--no-ext-diff", "--no-textconv", "--no-renames", "--unified=0", d.base, "--", "*.go", ":!*_test.go")
	if err != nil {
		return err
	}
	file, hunk := "", regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			file = name
			continue
		}
		m := hunk.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		from, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		n := 1
		if m[2] != "" {
			if n, err = strconv.Atoi(m[2]); err != nil {
				return err
			}
		}
		if n > 0 {
			fmt.Fprintf(out, "%s:%d-%d\n", file, from, from+n-1)
		}
	}
	return nil
}

// added reports whether .ci/must-run did not list a suite at a commit. It returns false if that is
// not known.
func added(root, commit, suite string) bool {
	listed, err := git(root, "show", commit+":"+mustRun)
	return err == nil && !slices.Contains(strings.Fields(listed), suite)
}

// checkNightly returns an error if the evidence of the last nightly run is not of an ancestor of
// HEAD, or if a suite did not pass in it. A suite that .ci/must-run did not list then has no result
// yet. It runs, as all do, because .ci/must-run changed.
func checkNightly(root string, out io.Writer) error {
	n, err := readNightly(root)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "there is no %s yet: everything runs\n", nightlyFile)
		return nil
	} else if err != nil {
		return err
	}
	if isShallow(root) {
		fmt.Fprintln(out, "this clone has no past: everything runs")
	} else if !isAncestor(root, n.Commit) {
		return fmt.Errorf("%s names commit %q, which is not an ancestor of HEAD: run «make nightly»", nightlyFile, n.Commit)
	}
	suites, err := os.ReadFile(filepath.Join(root, mustRun))
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(suites)) {
		if got := n.Suites[name].Result; got == "" && added(root, n.Commit, name) {
			fmt.Fprintf(out, "suite %s was added since\n", name)
		} else if got != "passed" {
			return fmt.Errorf("%s: suite %s is %q, want passed: run «make nightly»", nightlyFile, name, got)
		}
	}
	fmt.Fprintf(out, "last nightly run: %.10s, %d suites passed in %d s\n", n.Commit, len(n.Suites), n.Seconds)
	return nil
}

func isAncestor(root, commit string) bool {
	_, err := git(root, "merge-base", "--is-ancestor", commit, "HEAD")
	return err == nil
}

// isShallow reports whether this clone lacks earlier commits.
func isShallow(root string) bool {
	out, err := git(root, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(out) == "true"
}

func git(root string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir = root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}
