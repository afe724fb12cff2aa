package guard_test

import (
	"os"
	"strings"
	"testing"
)

// TestGuideShowsWhatRuns compares every code block of the builders' guide with the file it names.
// These files are compiled and run by .ci/builders, so all code in the guide works.
func TestGuideShowsWhatRuns(t *testing.T) {
	page, err := os.ReadFile("../docs/guide/build.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for i, block := range strings.Split(string(page), "\n```") {
		if i%2 == 0 {
			continue // the text between two blocks
		}
		info, code, _ := strings.Cut(block, "\n")
		kind, file, _ := strings.Cut(info, " ")
		if kind == "console" {
			continue // run by the tests of the command line
		}
		blocks++
		text, err := os.ReadFile("../" + file)
		if err != nil {
			t.Errorf("block %q names no file: %v", info, err)
			continue
		}
		if !strings.Contains(string(text), strings.TrimSpace(code)) {
			t.Errorf("%s does not hold this:\n%s", file, code)
		}
	}
	if blocks < 8 {
		t.Errorf("%d blocks were compared, there were more", blocks)
	}
}

// TestExamplesShareTheirWorld checks that the copies of a file in several modules are the same.
func TestExamplesShareTheirWorld(t *testing.T) {
	for copied, of := range map[string]string{
		"embedded/policy.yaml":       "policy.yaml",
		"embedded/small/policy.yaml": "policy.yaml",
		"client/world.go":            "embedded/world.go",
	} {
		a, err := os.ReadFile("../examples/" + copied)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile("../examples/" + of)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("examples/%s is not a copy of examples/%s", copied, of)
		}
	}
}
