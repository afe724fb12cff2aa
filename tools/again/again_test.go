package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ out, want, why string }{
		"one":           {"--- FAIL: TestA (0.1s)\n    x_test.go:3: no\nFAIL\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1.2s\nok  \tb\t1s\nFAIL\n", "monitor TestA", ""},
		"a part":        {"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/two_words (0.1s)\nFAIL\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1.2s\n", "monitor TestA/two_words", ""},
		"three":         {"--- FAIL: TestA (0s)\n--- FAIL: TestB (0s)\n--- FAIL: TestC (0s)\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "3 tests failed"},
		"a race":        {"WARNING: DATA RACE\n--- FAIL: TestA (0s)\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "WARNING: DATA RACE"},
		"a panic":       {"--- FAIL: TestA (0s)\npanic: boom [recovered]\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "a panic"},
		"random values": {"--- FAIL: TestA (0s)\n    x.go:1: [rapid] failed after 3 tests: no\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "[rapid] failed"},
		"a law":         {"--- FAIL: TestAnyLaw (0s)\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "TestAnyLaw proves something"},
		"a fuzz target": {"--- FAIL: FuzzA (0s)\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "FuzzA proves something"},
		"a journal":     {"--- FAIL: TestA (0s)\nFAIL\tgithub.com/floodmark/floodmark/internal/sqlitejournal\t1s\n", "", "internal/sqlitejournal proves something"},
		"no build":      {"FAIL\tgithub.com/floodmark/floodmark/monitor [build failed]\n", "", "github.com/floodmark/floodmark/monitor failed without a test that did"},
		"a leak":        {"goleak: found\nFAIL\tgithub.com/floodmark/floodmark/monitor\t1s\n", "", "github.com/floodmark/floodmark/monitor failed without a test that did"},
		"cut off":       {"--- FAIL: TestA (0s)\n", "", "what failed is not clear"},
	} {
		list, why := failures(c.out)
		var got []string
		for _, f := range list {
			got = append(got, strings.TrimPrefix(f.pkg, module)+" "+f.test)
		}
		if strings.Join(got, "; ") != c.want || why != c.why {
			t.Errorf("%s: %q, %q", name, got, why)
		}
	}
}

// A test that fails once is excused and named; one that fails always is not, nor one
// that nobody can run alone.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.org/x\n\ngo 1.26\n")
	write(t, dir, "x_test.go", `package x

import (
	"os"
	"testing"
)

func TestOnce(t *testing.T) {
	t.Run("the part", func(t *testing.T) {
		if _, err := os.Stat("been"); err != nil {
			os.WriteFile("been", nil, 0o600)
			t.Error("the first time")
		}
	})
}

func TestAlways(t *testing.T) { t.Error("always") }

func TestOther(t *testing.T) {}
`)
	t.Chdir(dir)
	excused := filepath.Join(dir, "excused")
	t.Setenv("FLOODMARK_EXCUSED", excused)
	if !(run{flags: []string{"-run=Once|Other", "-count=1"}, packages: []string{"./..."}}).passes(t.Context()) {
		t.Error("a test that failed once is not excused")
	}
	if got, err := os.ReadFile(excused); err != nil || !strings.HasPrefix(string(got), "FAILED ONCE: TestOnce/the_part of example.org/x, and passed alone 3 times.") {
		t.Errorf("%q, %v", got, err)
	}
	if (run{flags: []string{"-run=Always"}, packages: []string{"./..."}}).passes(t.Context()) {
		t.Error("a test that always fails is excused")
	}
	if (run{}).again(t.Context(), failure{"example.org/x", "TestOther/nowhere"}) {
		t.Error("a part that is not there is excused")
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
