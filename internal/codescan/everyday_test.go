package codescan_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/codescan"
)

var update = flag.Bool("update", false, "write down what is seen")

// A sample is a program with what was written down about it.
type sample struct{ text, want string }

// samples reads a corpus of programs. A line of dashes stands between them,
// and the last line of each says what it does.
func samples(t testing.TB, file string) []sample {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []sample
	for _, block := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n----\n") {
		text, want, _ := strings.Cut(block, "\n=> ")
		out = append(out, sample{text, want})
	}
	return out
}

func show(r codescan.Report) string {
	if !r.Understood {
		return "not understood"
	}
	words := []string{"understood"}
	for _, part := range []struct {
		name string
		list []string
	}{
		{"reads", r.Reads},
		{"writes", r.Writes},
		{"deletes", r.Deletes},
		{"modules", r.Modules},
		{"roots", r.Roots},
		{"standard", r.Standard},
	} {
		if len(part.list) > 0 {
			words = append(words, part.name+" "+strings.Join(part.list, " "))
		}
	}
	if r.Arguments {
		words = append(words, "arguments")
	}
	return strings.Join(words, ", ")
}

// Programs as coding agents write them do what is written down below them.
func TestEveryday(t *testing.T) {
	for file, l := range map[string]codescan.Language{"python-everyday.txt": codescan.Python, "javascript-everyday.txt": codescan.JavaScript} {
		list := samples(t, file)
		if len(list) < 60 {
			t.Errorf("%s: %d programs", file, len(list))
		}
		var b strings.Builder
		for i, s := range list {
			got := show(codescan.Script(l, s.text))
			if got == "not understood" || got != s.want && !*update {
				t.Errorf("%s %d:\n%s\ngot  %s\nwant %s", file, i, s.text, got, s.want)
			}
			if i > 0 {
				b.WriteString("----\n")
			}
			fmt.Fprintf(&b, "%s\n=> %s\n", s.text, got)
		}
		if *update {
			if err := os.WriteFile("testdata/"+file, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Edits as coding agents make them can only compute.
func TestEverydayEditsAreInert(t *testing.T) {
	for file, l := range map[string]codescan.Language{"python-inert.txt": codescan.Python, "javascript-inert.txt": codescan.JavaScript, "golang-inert.txt": codescan.Golang} {
		for _, s := range samples(t, file) {
			if !codescan.Inert(l, s.text) {
				t.Errorf("%s: not inert\n%s", file, s.text)
			}
		}
	}
}
