package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const nightlyFile = "docs/evidence/nightly.json"

// cancelDelay is how long a cancelled program may keep its output open.
const cancelDelay = 10 * time.Second

// newClone clones HEAD into .cache/breaks and commits there a nightly run that passed at
// HEAD. The clone uses the built tools in bin/ and the npm packages of the repository.
func newClone(ctx context.Context, root string) (clone string, err error) {
	parent := filepath.Join(root, ".cache", "breaks")
	if err := errors.Join(os.MkdirAll(parent, 0o755), os.MkdirAll(filepath.Join(root, "bin"), 0o755)); err != nil {
		return "", err
	}
	if clone, err = os.MkdirTemp(parent, "c"); err != nil {
		return "", err
	}
	if _, err := git(ctx, root, "clone", "-q", ".", clone); err != nil {
		return clone, err
	}
	// Each tool has a link of its own, because .gitignore lists bin/ only as a folder.
	tools, err := filepath.Glob(filepath.Join(root, "bin", "*"))
	if err != nil {
		return clone, err
	}
	links := map[string]string{filepath.Join(root, ".cache/builders/node_modules"): ".cache/builders/node_modules"}
	for _, tool := range tools {
		links[tool] = "bin/" + filepath.Base(tool)
	}
	for from, to := range links {
		to = filepath.Join(clone, to)
		if _, err := os.Stat(from); err != nil {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(from, to)); err != nil {
			return clone, err
		}
	}
	return clone, passNightly(ctx, clone)
}

// passNightly writes a nightly run of HEAD in which every suite passed.
func passNightly(ctx context.Context, clone string) error {
	head, err := git(ctx, clone, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	suites, err := os.ReadFile(filepath.Join(clone, ".ci", "must-run"))
	if err != nil {
		return err
	}
	type passed struct {
		Seconds int    `json:"seconds"`
		Result  string `json:"result"`
	}
	all := map[string]passed{}
	for name := range strings.FieldsSeq(string(suites)) {
		all[name] = passed{Result: "passed"}
	}
	data, err := json.MarshalIndent(map[string]any{"suite": "nightly", "commit": head, "seconds": 0, "suites": all}, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(clone, nightlyFile)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, append(data, '\n'), 0o644)); err != nil {
		return err
	}
	return commitAll(ctx, clone, "evidence: a nightly run")
}

// commitAll commits at a fixed time, so that the same break of the same commit has the
// same hash. The hash chooses the mutants and agents that a suite tries.
func commitAll(ctx context.Context, clone, subject string) error {
	if _, err := git(ctx, clone, "add", "-A"); err != nil {
		return err
	}
	_, err := git(ctx, clone, "-c", "user.name=breaks", "-c", "user.email=breaks@example.com", "-c", "commit.gpgsign=false",
		"commit", "-q", "-m", subject)
	return err
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// command runs a program in a clone and returns what it printed. If the context ends, the
// program is killed together with all processes of its session.
func command(ctx context.Context, clone string, env []string, name string, args ...string) (out string, code int, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = clone
	// With CI set, .ci/run gives files times that follow from their content, so that the cached
	// test results of other clones can be used.
	cmd.Env = append(os.Environ(), append([]string{"CI=1", "NIGHTLY="}, env...)...)
	// A session and not a process group, because «timeout» in .ci/run makes a group of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return exec.Command("pkill", "-KILL", "-s", strconv.Itoa(cmd.Process.Pid)).Run() } //nolint:noctx // ctx is over
	cmd.WaitDelay = cancelDelay
	data, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	return string(data), cmd.ProcessState.ExitCode(), err
}
