package main

import (
	"strings"
	"testing"
	"time"
)

// A word of any length is broken, quickly, and nothing of it is lost.
func TestLongWordsAreBroken(t *testing.T) {
	for _, width := range []int{1, 2, 3, 20, 80} {
		for _, word := range []string{strings.Repeat("x", 1000), strings.Repeat("語", 1000), "a" + strings.Repeat("é", 999)} {
			lines := wrap("see "+word+" end", width, 0)
			if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != "see"+word+"end" {
				t.Errorf("width %d: something was lost: %.60q", width, got)
			}
		}
	}
	began := time.Now()
	wrap(strings.Repeat("x", 1<<20), 80, wholeWord)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a megabyte took %s", took)
	}
}

func FuzzForeignText(f *testing.F) {
	f.Add("a\u202eb\x1b[31m https://one.example/"+strings.Repeat("x", 600), 40)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if len(text) > 4096 || width < 1 || width > 400 {
			return
		}
		for _, line := range wrap(text, width, 60) {
			if strings.ContainsAny(line, "\x1b\u202e\r\n") {
				t.Errorf("%q steers a terminal", line)
			}
		}
	})
}
