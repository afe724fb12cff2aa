package linetext

import (
	"strings"
	"unicode"
)

// maxExcerpt is how much of a line is shown: what fits on a terminal.
const maxExcerpt = 72

// Excerpt returns a line of a file with a caret under a column, both counted from 1. It is empty if
// there is no such line.
func Excerpt(data []byte, line, column int) string {
	if line < 1 {
		return ""
	}
	n := 0
	for text := range strings.Lines(string(data)) {
		if n++; n == line {
			return caret([]rune(strings.ToValidUTF8(strings.TrimRight(text, "\r\n"), "\uFFFD")), column)
		}
	}
	return ""
}

func caret(text []rune, column int) string {
	at := min(max(column, 1)-1, len(text))
	from := 0
	if at > maxExcerpt*3/4 {
		from = at - maxExcerpt/2
	}
	to := min(len(text), from+maxExcerpt)
	shown := make([]rune, 0, to-from)
	for _, r := range text[from:to] {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			r = ' ' // keeps the caret below its column, and cannot steer a terminal
		}
		shown = append(shown, r)
	}
	head, tail := "", ""
	if from > 0 {
		head = "… "
	}
	if to < len(text) {
		tail = " …"
	}
	return head + string(shown) + tail + "\n" + strings.Repeat(" ", len([]rune(head))+at-from) + "^"
}
