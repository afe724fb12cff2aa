package linetext

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// rowMark begins each row but the first, so that no part of a text can look like a line of its own.
const rowMark = "↳ "

// Marked breaks a text into rows of at most width columns and leaves out none of its
// characters. It prefers to break behind a space.
func Marked(text string, width int) (rows []string) {
	text, width = Plain(text), max(width, 2*lipgloss.Width(rowMark)+2)
	for begin := ""; ; begin = rowMark {
		cut := upTo(text, width-lipgloss.Width(begin))
		rows = append(rows, begin+text[:cut])
		if text = text[cut:]; text == "" {
			return rows
		}
	}
}

// upTo returns how many bytes of a text fit into so many columns, but at least one character. It
// prefers to end behind a space.
func upTo(text string, width int) int {
	columns, space := 0, 0
	for i, r := range text {
		if columns += lipgloss.Width(string(r)); columns > width && i > 0 {
			if space > i/2 {
				return space
			}
			return i
		}
		if r == ' ' {
			space = i + 1
		}
	}
	return len(text)
}

// Fitted returns at most most rows of [Marked]. left is how many characters do not fit. If there
// are any, the last row is what end returns for that number.
func Fitted(text string, width, most int, end func(left int) string) (rows []string, left int) {
	rows = Marked(text, width)
	if len(rows) <= most {
		return rows, 0
	}
	for _, r := range rows[most-1:] {
		left += utf8.RuneCountInString(strings.TrimPrefix(r, rowMark))
	}
	return append(rows[:most-1:most-1], rowMark+end(left)), left
}
