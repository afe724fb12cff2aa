package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExcuses(t *testing.T) {
	ms := generate(t, "package p\nconst limit = 3\n")
	for _, c := range []struct{ text, want string }{
		{"p/p.go:limit:plus:1 only a hint to the allocator", ""},
		{"p/p.go:2:*:plus only a hint to the allocator", ""},
		{"# nothing\n\n", ""},
		{"p/p.go:gone:plus:1 only a hint to the allocator", "no mutant matches"},
		{"p/p.go:limit:plus:1 because", "a reason in words"},
		{"p/[ a reason of some words", "syntax error"},
	} {
		es, err := parseExcuses("f", c.text)
		if err == nil {
			err = es.check(ms)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestReportCounts(t *testing.T) {
	ms := generate(t, "package p\nconst a, b = 1, 2\nconst c = 3\n")
	es, err := parseExcuses("f", "p/p.go:c:plus:1 nobody can see it")
	if err != nil {
		t.Fatal(err)
	}
	r := report{Packages: map[string]tally{}}
	r.add(ms[0], caught, es)
	r.add(ms[0], caught, es)
	r.add(ms[1], survived, es)
	r.add(ms[2], survived, es)
	r.add(ms[0], broken, es)
	if r.Tried != 4 || r.Caught != 2 || r.Survived != 1 || r.Excused != 1 || r.Broken != 1 || r.Percent != 66.6 {
		t.Errorf("got %+v", r)
	}
}

func TestInParallelStopsInTime(t *testing.T) {
	ms := make([]mutant, 100)
	tried := 0
	err := inParallel(t.Context(), 4, ms, func() bool { return tried < 10 },
		func(mutant) (outcome, error) { return caught, nil }, func(mutant, outcome) { tried++ })
	if err != nil || tried != 10 {
		t.Errorf("tried %d (error %v), want 10", tried, err)
	}
	boom := errors.New("boom")
	err = inParallel(t.Context(), 4, ms, func() bool { return true },
		func(mutant) (outcome, error) { return "", boom }, func(mutant, outcome) { t.Error("noted a failure") })
	if !errors.Is(err, boom) {
		t.Errorf("error %v, want boom", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := inParallel(ctx, 1, ms, func() bool { return true }, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want canceled", err)
	}
}

func TestOrderFollowsTheSeed(t *testing.T) {
	ms := generate(t, "package p\nconst a = 1\nconst b = 1\nconst c = 1\nconst d = 1\nconst e = 1\n")
	if !slices.Equal(order(options{seed: 3}, ms), order(options{seed: 3}, ms)) {
		t.Error("the same seed gave another order")
	}
	if slices.Equal(order(options{seed: 3}, ms), order(options{seed: 4}, ms)) {
		t.Error("another seed gave the same order")
	}
	if !slices.Equal(order(options{all: true}, ms), ms) {
		t.Error("-all changed the order")
	}
}

// TestOnASmallModule breaks a module whose tests check one of two functions.
// One mutant loops for ever while it allocates, and must not use up the memory of the machine.
func TestOnASmallModule(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a dozen programs")
	}
	self := filepath.Join(t.TempDir(), "mutate")
	if out, err := goCommand(t, ".", "build", "-o", self, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := writeModule(t)
	result := filepath.Join(t.TempDir(), "out", "result.json")
	out, err := command(t, root, self, "-root", root, "-survivors", filepath.Join(root, "survivors.txt"), "-all", "-timeout", "10s", "-json", result, "-min", "90")
	if err == nil || !strings.Contains(out, "want at least 90.0 %") {
		t.Errorf("error %v, want a complaint about too few\n%s", err, out)
	}
	data, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err, out)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	var survivors []string
	for _, s := range r.Survivors {
		survivors = append(survivors, s.Name+" "+s.Excuse)
	}
	want := []string{"p/p.go:Excused:zero:1 nobody ever asks", "p/p.go:Untested:minmax:1 ", "p/p.go:Untested:zero:1 "}
	if !slices.Equal(survivors, want) || r.Caught == 0 {
		t.Errorf("survivors %q, want %q\n%s", survivors, want, out)
	}
}

// If the tests fail without a mutant, that is an error.
func TestWithTestsThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two programs")
	}
	self := filepath.Join(t.TempDir(), "mutate")
	if out, err := goCommand(t, ".", "build", "-o", self, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := writeModule(t)
	if err := os.WriteFile(filepath.Join(root, "p", "q_test.go"), []byte("package p\n\nimport \"testing\"\n\nfunc TestNever(t *testing.T) { t.Error(\"never\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, root, self, "-root", root, "-survivors", filepath.Join(root, "survivors.txt"), "-all")
	if err == nil || !strings.Contains(out, "the tests of p fail without any mutant") || strings.Contains(out, "caught") {
		t.Errorf("error %v\n%s", err, out)
	}
}

func writeModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module m\n\ngo 1.26\n",
		"ARCHITECTURE.md": "| `p` | 2 rules | Two functions. |\n| `q` | 4 doors | None. |\n",
		"survivors.txt":   "p/p.go:Excused:*:1 nobody ever asks\n",
		"p/p.go": `package p

func Tested(n int) (xs []int) {
	for len(xs) < n {
		xs = append(xs, 7)
	}
	return xs
}

func Untested(a, b int) int { return min(a, b) }

func Excused(a int) int { return a }
`,
		"p/p_test.go": `package p

import "testing"

func TestTested(t *testing.T) {
	if xs := Tested(2); len(xs) != 2 || xs[1] != 7 {
		t.Error(xs)
	}
}
`,
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func goCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	return command(t, dir, "go", args...)
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-parallel", "0"}, {"surplus"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

func command(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
