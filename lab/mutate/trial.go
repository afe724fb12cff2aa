package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// An outcome says whether the tests noticed a mutant.
type outcome string

// The outcomes.
const (
	caught   outcome = "caught"
	survived outcome = "survived"
	broken   outcome = "does not compile"
)

// A bench tries mutants one by one. It is safe for use by several goroutines.
type bench struct {
	root    string
	self    string   // this program, which limits what a test may use
	through []string // packages whose tests run the code of all other packages
	timeout time.Duration
	sound   *sound
}

// try runs the tests that could notice m: first the tests of its own package, which are the
// fastest, then the tests of the packages in b.through.
func (b bench) try(ctx context.Context, m mutant) (outcome, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := b.overlay(dir, m)
	if err != nil {
		return "", err
	}
	for _, pkg := range b.packagesFor(m) {
		if err := b.unbroken(ctx, pkg); err != nil {
			return "", err
		}
		out, err := b.test(ctx, pkg, "-overlay="+overlay)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil:
		case doesNotCompile(out):
			return broken, nil
		default:
			return caught, nil
		}
	}
	return survived, nil
}

// packagesFor returns the packages whose tests are run, in order. It leaves out those of
// b.through that have no tests.
func (b bench) packagesFor(m mutant) []string {
	pkgs := []string{m.pkg}
	for _, d := range b.through {
		if files, _ := filepath.Glob(filepath.Join(b.root, d, "*_test.go")); d != m.pkg && len(files) > 0 {
			pkgs = append(pkgs, d)
		}
	}
	return pkgs
}

// overlay writes the broken file and the overlay for the go command that replaces the good
// file with it. It returns the path of the overlay.
func (b bench) overlay(dir string, m mutant) (string, error) {
	original := filepath.Join(b.root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if m.end > len(text) || string(text[m.start:m.end]) != m.before {
		return "", fmt.Errorf("%s was changed meanwhile", m.file)
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, []byte(m.apply(string(text))), 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}

// test runs the tests of one package, except TestHouse, which checks the source and not the
// behaviour.
func (b bench) test(ctx context.Context, pkg string, extra ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*b.timeout) // compiling included
	defer cancel()
	args := []string{
		"test", "-vet=off", "-short", "-failfast", "-count=1", "-p=1", "-skip=^TestHouse$",
		"-timeout=" + b.timeout.String(), "-exec=" + b.self + " " + limitedWord,
	}
	cmd := exec.CommandContext(ctx, "go", append(append(args, extra...), "./"+pkg)...)
	cmd.Dir = b.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// The go command starts other processes. Killing the group ends them, too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	return out.String(), err
}

func doesNotCompile(out string) bool {
	return strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]")
}

// limitedWord is the first argument that makes this program call [runLimited].
const limitedWord = "run-limited"

// maxTestBytes bounds the address space of a test, because a mutant whose loop never ends
// could use up the memory of the machine.
const maxTestBytes = 4 << 30

// runLimited replaces this process with the given command, within [maxTestBytes].
func runLimited(args []string) error {
	limit := syscall.Rlimit{Cur: maxTestBytes, Max: maxTestBytes}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	return syscall.Exec(args[0], args, os.Environ())
}
