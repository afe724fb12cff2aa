package linetext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/floodmark/floodmark"
)

// rowRunes is how much of a line stands in one row: a longer one goes on in the next.
const rowRunes = 160

// A Changes is the difference between two contents of a file, to be shown to whoever
// vouches for the new one. Everything that differs is in it, byte by byte: no setting
// says what is compared.
type Changes struct {
	// In and Out are how many lines came and went, Same how many are equal and not shown.
	In, Out, Same int
	// Rows begin with «+», «-», a space, or «@» where lines are left out. Behind a bar
	// stands the text of the file, with what hides or steers spelled out.
	Rows []string
}

// ChangesOf compares two contents; of what is compared with nothing, all lines are new.
func ChangesOf(before, after []byte) (c Changes) {
	same := 0
	for line := range strings.Lines(string(diff.Diff("a", before, "b", after))) {
		line = strings.TrimSuffix(line, "\n")
		if c.Rows == nil && !strings.HasPrefix(line, "@@") {
			continue // the names of the two
		}
		switch line[:1] {
		case "+":
			c.In++
		case "-":
			c.Out++
		case " ":
			same++
		case "@":
			c.Rows = append(c.Rows, "@ "+strings.Trim(line, "@ "))
			continue
		default:
			c.Rows = append(c.Rows, "@ no end of line at the end of the file")
			continue
		}
		c.Rows = appendRows(c.Rows, line[:1], line[1:])
	}
	c.Same = bytes.Count(after, []byte("\n")) - c.In - same
	if len(after) > 0 && !bytes.HasSuffix(after, []byte("\n")) {
		c.Same++
	}
	return c
}

// appendRows adds a line in as many rows as it takes.
func appendRows(rows []string, sign, text string) []string {
	for {
		cut, n := 0, 0
		for cut < len(text) && n < rowRunes {
			_, size := utf8.DecodeRuneInString(text[cut:])
			cut, n = cut+size, n+1
		}
		rows = append(rows, sign+" │ "+indented(text[:cut]))
		if text = text[cut:]; text == "" {
			return rows
		}
		sign = "…"
	}
}

// indented is a text with what hides or steers spelled out. Spaces that begin it stay as
// they are, or nobody could read code.
func indented(text string) string {
	rest := strings.TrimLeft(text, " \t")
	head := text[:len(text)-len(rest)]
	if len(head) > 40 {
		return floodmark.Visible(text)
	}
	return strings.ReplaceAll(head, "\t", "    ") + floodmark.Visible(rest)
}
