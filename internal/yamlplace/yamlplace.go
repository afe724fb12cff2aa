// Package yamlplace finds where a place in a text value stands in its YAML file, for
// messages about languages that stand in values.
package yamlplace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Find returns the line and the column in a file of a place in the value of n. Line counts
// from 1 and column from 0, as CEL does; the result counts both from 1, in
// characters. The value and the file hold the same signs in the same order,
// whatever the style; only white space and escapes differ. So it is enough to
// walk both together.
func Find(file []byte, n *yaml.Node, line, column int) (int, int) {
	want := offset(n.Value, line, column)
	lines := strings.Split(string(file), "\n")
	w := walk{lines: lines, line: n.Line - 1, column: n.Column - 1, style: n.Style}
	w.enter()
	w.signs = []rune(lineAt(lines, w.line))
	for i, c := range []rune(n.Value) {
		if unicode.IsSpace(c) {
			if i == want {
				break // white space may be folded: where the last sign ended is near enough
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

// offset turns a line and a column of s into an index of its characters.
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
	signs        []rune // of the line
	style        yaml.Style
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// enter steps over what opens a text: a quote, or the sign of a block.
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

// continued reports a backslash at the end of a line in double quotes.
func (w *walk) continued(c rune) bool {
	if w.style != yaml.DoubleQuotedStyle || c != '\\' {
		return false
	}
	ahead := *w
	ahead.next()
	after, ok := ahead.now()
	return ok && after == '\n'
}

// step goes over the sign c, as it is written.
func (w *walk) step(c rune) {
	written, ok := w.now()
	if !ok {
		return
	}
	w.next()
	switch {
	case w.style == yaml.SingleQuotedStyle && c == '\'':
		w.next() // it is doubled
	case w.style == yaml.DoubleQuotedStyle && written == '\\':
		w.escape()
	}
}

// escape goes over what follows a backslash.
func (w *walk) escape() {
	kind, _ := w.now()
	w.next()
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[kind]
	for range digits {
		w.next()
	}
}

// escapedSpace goes over white space that is written as an escape.
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
