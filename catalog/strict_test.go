package catalog

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// worst reports whether a command is treated as one that may do anything already.
func worst(e *commandbook.Entry) bool {
	return slices.Contains(e.Effects, floodmark.Run) || slices.Contains(e.Effects, floodmark.Admin)
}

// An unlisted option may write, or name a list of files. So only commands that are runs anyway, or
// that have no option of that kind, accept any option.
func TestAnyOptionIsARun(t *testing.T) {
	free := strings.Fields("echo printf tr factor numfmt cal ncal rm rmdir unlink shred trash trash-put srm kill killall renice xkill pkill skill " +
		"cat zcat bzcat tac cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum md5 readlink realpath basename dirname " +
		"head tail wc nl ls stat grep egrep fgrep zgrep")
	for _, e := range shipped(t).entries {
		if (e.Flags == "*" || slices.Contains(e.Options, "*")) && !worst(e) && !slices.Contains(free, e.Words[0]) {
			t.Errorf("%v takes any option: list those that leave it what it is", e.Words)
		}
	}
}

// A program is a run with any arguments if a file in the folder can say what it runs. The
// exceptions are listed, so a new program is a run.
func TestOnlyListedProgramsLoadNothing(t *testing.T) {
	text, err := os.ReadFile("testdata/loads-nothing.txt")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			listed = append(listed, line)
		}
	}
	used := map[string]bool{}
	for _, e := range shipped(t).entries {
		whole := strings.Join(e.Words, " ")
		if worst(e) {
			continue
		}
		if !slices.Contains(listed, e.Words[0]) && !slices.Contains(listed, whole) {
			t.Errorf("%q may load a file of its folder as code: make it a run with loads, or list it", whole)
		}
		used[e.Words[0]], used[whole] = true, true
	}
	for _, l := range listed {
		if !used[l] {
			t.Errorf("%q is listed and is no command any more", l)
		}
	}
}
