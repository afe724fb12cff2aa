package graph

import (
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/lookalike"
)

// maxLabelRunes bounds one line of a node in a diagram.
const maxLabelRunes = 60

// edges yields every edge of the session once.
func (g *Graph) edges(yield func(Edge) bool) {
	known := map[Edge]bool{}
	for _, t := range g.Turns {
		for _, e := range t.Edges {
			if known[e] {
				continue
			}
			known[e] = true
			if !yield(e) {
				return
			}
		}
	}
}

// nodeLines returns the lines of a node in a diagram.
func nodeLines(n Node) []string {
	lines := []string{string(n.Kind) + " " + n.ID}
	for _, line := range []string{n.Tool, n.Metadata["source"], n.Trust.String(), n.Metadata["verdict"], n.BlockReason} {
		if line != "" && line != lines[len(lines)-1] {
			lines = append(lines, visible(line, maxLabelRunes, "…"))
		}
	}
	return lines
}

func nodeClass(n Node) string {
	switch {
	case n.Blocked:
		return "blocked"
	case n.Trust <= floodmark.External:
		return "low"
	case n.Trust <= floodmark.Local:
		return "middle"
	}
	return "high"
}

// eachVisible calls show for each character of a foreign text, without invisible ones and with
// every kind of space as a blank.
func eachVisible(s string, show func(rune)) {
	for _, r := range s {
		switch {
		case lookalike.Invisible(r) || !unicode.IsPrint(r) && !unicode.IsSpace(r):
		case unicode.IsSpace(r):
			show(' ')
		default:
			show(r)
		}
	}
}

// visible returns at most n characters of s on one line, with a dot for each invisible or control
// character. If s is longer, it appends more.
func visible(s string, n int, more string) string {
	var b strings.Builder
	for _, r := range s {
		if n == 0 {
			return b.String() + more
		}
		n--
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case lookalike.Invisible(r) || unicode.IsControl(r):
			r = '·'
		}
		b.WriteRune(r)
	}
	return b.String()
}
