package linetext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/text/linetext"
)

func TestChangesShowEverythingThatDiffers(t *testing.T) {
	before := strings.Repeat("same\n", 20) + "gone\n"
	after := strings.Repeat("same\n", 20) + "new \x1b[2K\u202e\n" + "no end"
	c := linetext.ChangesOf([]byte(before), []byte(after))
	if c.In != 2 || c.Out != 1 || c.Same != 17 {
		t.Errorf("%d in, %d out, %d the same: %q", c.In, c.Out, c.Same, c.Rows)
	}
	all := strings.Join(c.Rows, "\n")
	for _, want := range []string{"- │ gone", "+ │ new ⟨U+001B⟩[2K⟨U+202E⟩", "+ │ no end", "@ no end of line"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if strings.ContainsAny(all, "\x1b\u202e") {
		t.Errorf("a character that steers is shown as it is: %q", all)
	}
}

func TestChangesOfNothing(t *testing.T) {
	c := linetext.ChangesOf(nil, []byte("a\n\tb\n"))
	if want := []string{"+ │ a", "+ │     b"}; c.In != 2 || c.Out != 0 || c.Same != 0 || !slices.Equal(c.Rows[1:], want) {
		t.Errorf("%+v", c)
	}
	if c := linetext.ChangesOf([]byte("a\n"), []byte("a\n")); c.In+c.Out != 0 || c.Same != 1 || len(c.Rows) != 0 {
		t.Errorf("%+v", c)
	}
}

// A space at the end of a line, an empty line at the end of a file, and the two kinds of line ends
// are differences.
func TestChangesOfSpaces(t *testing.T) {
	for _, after := range []string{"a \nb\n", "a\nb\n\n", "a\r\nb\n", "\na\nb\n", "a\nb"} {
		if c := linetext.ChangesOf([]byte("a\nb\n"), []byte(after)); c.In == 0 || len(c.Rows) == 0 {
			t.Errorf("%q: %+v", after, c)
		}
	}
}

func TestALongLineIsShownToItsEnd(t *testing.T) {
	long := strings.Repeat("x", 100_000) + "END\n"
	c := linetext.ChangesOf(nil, []byte(long))
	if last := c.Rows[len(c.Rows)-1]; c.In != 1 || !strings.HasSuffix(last, "END") || !strings.HasPrefix(last, "… │ ") || len(c.Rows) < 600 {
		t.Errorf("%d rows, the last %q", len(c.Rows), last)
	}
}
