// Package yamlplace finds the position in a YAML file of a position inside a text value, for
// messages about expressions in values.
package yamlplace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Find returns the line and column in a file of a position in the value of n. The given line counts
// from 1 and the column from 0, as in CEL. The results count from 1, in characters. Find walks
// through the value and the file together, because both contain the same characters in the same
// order and differ only in white space and escapes.
func Find(file []byte, n *yaml.Node, line, column int) (int, int) {
	want := offset(n.Value, line, column)
	lines := strings.Split(string(file), "\n")
	w := walk{lines: lines, line: n.Line - 1, column: n.Column - 1, style: n.Style}
	w.enter()
	w.signs = []rune(lineAt(lines, w.line))
	for i, c := range []rune(n.Value) {
		if unicode.IsSpace(c) {
			if i == want {
				break // white space may be folded, so the end of the last character is used
			}
			if w.style == yaml.DoubleQuotedStyle {
				w.escapedSpace(c)
			}
			continue
		}
		w.skipSpace()
		if i == want {
			break
		}
		w.step(c)
	}
	return w.line + 1, w.column + 1
}

// offset returns the index, in characters, of a line and column in s.
func offset(s string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		head, rest, ok := strings.Cut(s, "\n")
		if !ok {
			break
		}
		at += utf8.RuneCountInString(head) + 1
		s = rest
	}
	return at + column
}

// walk goes through the lines of a file, character by character.
type walk struct {
	lines        []string
	line, column int
	signs        []rune // the characters of the current line
	style        yaml.Style
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// enter goes past the opening of a value: a quotation mark, or the line with the sign of a block.
func (w *walk) enter() {
	switch w.style {
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		w.column++
	case yaml.LiteralStyle, yaml.FoldedStyle:
		w.line, w.column = w.line+1, 0
	}
}

func (w *walk) now() (rune, bool) {
	if w.line >= len(w.lines) {
		return 0, false
	}
	if w.column < len(w.signs) {
		return w.signs[w.column], true
	}
	return '\n', true
}

func (w *walk) next() {
	if c, ok := w.now(); ok && c == '\n' {
		w.line, w.column = w.line+1, 0
		w.signs = []rune(lineAt(w.lines, w.line))
		return
	}
	w.column++
}

func (w *walk) skipSpace() {
	for {
		c, ok := w.now()
		if !ok || !unicode.IsSpace(c) && !w.continued(c) {
			return
		}
		w.next()
	}
}

// continued reports whether c is a backslash at the end of a line in double quotes.
func (w *walk) continued(c rune) bool {
	if w.style != yaml.DoubleQuotedStyle || c != '\\' {
		return false
	}
	ahead := *w
	ahead.next()
	after, ok := ahead.now()
	return ok && after == '\n'
}

// step goes past the character c in the form in which it is written.
func (w *walk) step(c rune) {
	written, ok := w.now()
	if !ok {
		return
	}
	w.next()
	switch {
	case w.style == yaml.SingleQuotedStyle && c == '\'':
		w.next() // the quotation mark is doubled
	case w.style == yaml.DoubleQuotedStyle && written == '\\':
		w.escape()
	}
}

// escape goes past the rest of an escape after its backslash.
func (w *walk) escape() {
	kind, _ := w.now()
	w.next()
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[kind]
	for range digits {
		w.next()
	}
}

// escapedSpace goes past white space that is written as an escape.
func (w *walk) escapedSpace(c rune) {
	if written, ok := w.now(); ok && written == '\\' && !w.continued(written) {
		w.next()
		w.escape()
	} else if c == ' ' {
		if written == ' ' {
			w.next()
		}
	}
}
