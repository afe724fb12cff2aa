package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyMutantsOfTheseLines(t *testing.T) {
	ms := []mutant{{file: "a.go", line: 3}, {file: "a.go", line: 4}, {file: "a.go", line: 7}, {file: "b.go", line: 4}}
	name := filepath.Join(t.TempDir(), "lines")
	for text, want := range map[string]int{"": 0, "a.go:4-6\n": 1, "a.go:3-4\nb.go:1-9\n": 3, "a.go:1-9\na.go:2-5\n": 3, "c.go:1-9\n": 0} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := within(ms, name); err != nil || len(got) != want {
			t.Errorf("%q: %d mutants, %v; want %d", text, len(got), err, want)
		}
	}
	if err := os.WriteFile(name, []byte("a.go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := within(ms, name); err == nil {
		t.Error("a line without numbers is read")
	}
}
