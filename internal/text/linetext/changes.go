package linetext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/floodmark/floodmark"
)

// rowRunes is how many characters of a line one row shows. A longer line continues in the next row.
const rowRunes = 160

// A Changes is the difference between two contents of a file, for the person who vouches for the
// new one. It contains every difference, byte by byte; no setting limits what is compared.
type Changes struct {
	// In and Out count the added and the removed lines. Same counts the equal lines that are not
	// shown.
	In, Out, Same int
	// Rows begin with «+», «-» or a space, with «…» if they continue a line, or with «@» if lines
	// are left out. The text of the file follows after a bar, with invisible and control characters
	// spelled out.
	Rows []string
}

// ChangesOf compares two contents. If before is empty, all lines are new.
func ChangesOf(before, after []byte) (c Changes) {
	same := 0
	for line := range strings.Lines(string(diff.Diff("a", before, "b", after))) {
		line = strings.TrimSuffix(line, "\n")
		if c.Rows == nil && !strings.HasPrefix(line, "@@") {
			continue // the header with the names of both
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

// indented returns a text with invisible and control characters spelled out. Up to 40 leading
// spaces and tabs stay white space, because code cannot be read without them.
func indented(text string) string {
	rest := strings.TrimLeft(text, " \t")
	head := text[:len(text)-len(rest)]
	if len(head) > 40 {
		return floodmark.Visible(text)
	}
	return strings.ReplaceAll(head, "\t", "    ") + floodmark.Visible(rest)
}
