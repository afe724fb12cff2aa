package codescan_test

import (
	"os"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/codescan"
)

// lines reads a corpus with one text per line; «⏎» stands for a new line.
func lines(t testing.TB, file string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		out = append(out, strings.ReplaceAll(line, "⏎", "\n"))
	}
	return out
}

// What an attacker would write is neither understood nor inert.
func TestHostileIsNeither(t *testing.T) {
	for file, l := range map[string]codescan.Language{"python-hostile.txt": codescan.Python, "javascript-hostile.txt": codescan.JavaScript, "golang-hostile.txt": codescan.Golang} {
		list := lines(t, file)
		if len(list) < 150 {
			t.Errorf("%s: %d texts", file, len(list))
		}
		for _, text := range list {
			if r := codescan.Script(l, text); r.Understood {
				t.Errorf("%s: understood %q: %+v", file, text, r)
			}
			if codescan.Inert(l, text) {
				t.Errorf("%s: inert %q", file, text)
			}
		}
	}
}

// Edits that could do more than compute are not inert.
func TestHostileEditsAreNotInert(t *testing.T) {
	for file, l := range map[string]codescan.Language{"python-hostile-edits.txt": codescan.Python, "javascript-hostile-edits.txt": codescan.JavaScript} {
		for _, text := range lines(t, file) {
			if codescan.Inert(l, text) {
				t.Errorf("%s: inert %q", file, text)
			}
		}
	}
}
