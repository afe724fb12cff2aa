package shellscan_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

var update = flag.Bool("update", false, "write down what is seen")

// A sample is a line with its expected report.
type sample struct{ line, want string }

// samples reads the lines of a file. Below each line is «=> » and its expected report. «⏎» means a
// line break.
func samples(t testing.TB, file string) []sample {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		line, want, ok := strings.Cut(block, "\n=> ")
		if !ok {
			line, want, ok = strings.Cut(block, "\n=>")
		}
		if !ok {
			t.Fatalf("%s: %q says not what it does", file, block)
		}
		out = append(out, sample{strings.ReplaceAll(line, "⏎", "\n"), strings.TrimSpace(want)})
	}
	return out
}

func files(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/lines/*.txt")
	if err != nil || len(list) < 10 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	return list
}

// Every line has the expected report. There is one file for each construct.
func TestLines(t *testing.T) {
	c := commands(t)
	for _, file := range files(t) {
		var b strings.Builder
		for _, s := range samples(t, file) {
			r := shellscan.Scan(s.line, here(), c)
			r.Effects = slices.DeleteFunc(r.Effects, func(e shellscan.Effect) bool { // every git command has it
				return e.Kind == shellscan.Settings && e.Path == here().Dir
			})
			got := show(r)
			if got != s.want && !*update {
				t.Errorf("%s\n%s\ngot  %s\nwant %s", filepath.Base(file), s.line, got, s.want)
			}
			b.WriteString(strings.TrimRight(strings.ReplaceAll(s.line, "\n", "⏎")+"\n=> "+got, " ") + "\n\n")
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.TrimSuffix(b.String(), "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
