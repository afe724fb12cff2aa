package linetext

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// wholeWord is a limit like those in use.
const wholeWord = 512

// A word of any length is broken, quickly, and no character of it is lost.
func TestLongWordsAreBroken(t *testing.T) {
	for _, width := range []int{1, 2, 3, 20, 80} {
		for _, word := range []string{strings.Repeat("x", 1000), strings.Repeat("語", 1000), "a" + strings.Repeat("é", 999)} {
			lines := Wrap("see "+word+" end", width, 0)
			if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != "see"+word+"end" {
				t.Errorf("width %d: something was lost: %.60q", width, got)
			}
		}
	}
	// If the time grew with the square of the length, this would take hours.
	if n := len(Wrap(strings.Repeat("x", 1<<20), 80, wholeWord)); n < 1<<20/80 {
		t.Errorf("a megabyte has %d lines", n)
	}
}

func FuzzForeignText(f *testing.F) {
	f.Add("a\u202eb\x1b[31m https://one.example/"+strings.Repeat("x", 600), 40)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if len(text) > 4096 || width < 1 || width > 400 {
			return
		}
		for _, line := range Wrap(text, width, 60) {
			if strings.ContainsAny(line, "\x1b\u202e\r\n") {
				t.Errorf("%q steers a terminal", line)
			}
		}
	})
}

func TestWrapFitsAndLosesNothing(t *testing.T) {
	text := "one two " + strings.Repeat("x", 50) + " 日本語日本語 three"
	for width := 4; width < 70; width++ {
		lines := Wrap(text, width, 0)
		for _, l := range lines {
			if lipgloss.Width(l) > width {
				t.Errorf("width %d: %q is wider", width, l)
			}
		}
		if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("width %d: got %q", width, got)
		}
	}
	long := strings.Repeat("p", wholeWord)
	if got := Wrap("see "+long, 20, wholeWord); len(got) != 2 || got[1] != long {
		t.Errorf("a word at the limit was broken: %q", got)
	}
	if got := Wrap(long+"p", 20, wholeWord); len(got) == 1 {
		t.Error("a word over the limit was not broken")
	}
}
