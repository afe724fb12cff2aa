package graph

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/lookalike"
)

// maxLabelRunes bounds one line of a node in a diagram.
const maxLabelRunes = 60

// Mermaid returns the graph as a Mermaid flowchart. Its names are foreign text, so every character
// with a meaning is written as a code.
func (g *Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	drawn := map[string]bool{}
	for _, t := range g.Turns {
		fmt.Fprintf(&b, "  subgraph %s[\"%s\"]\n", mermaidID(t.TurnID), mermaidText(t.TurnID))
		for _, n := range t.Nodes {
			if drawn[n.ID] {
				continue
			}
			drawn[n.ID] = true
			lines := nodeLines(n)
			for i := range lines {
				lines[i] = mermaidText(lines[i])
			}
			fmt.Fprintf(&b, "    %s[\"%s\"]:::%s\n", mermaidID(n.ID), strings.Join(lines, "<br/>"), nodeClass(n))
		}
		b.WriteString("  end\n")
	}
	for e := range g.edges {
		fmt.Fprintf(&b, "  %s -->|%s| %s\n", mermaidID(e.From), e.Relation, mermaidID(e.To))
	}
	b.WriteString("  classDef blocked stroke:#b00,stroke-width:3px\n" +
		"  classDef low fill:#fdd\n  classDef middle fill:#ffd\n  classDef high fill:#dfd\n")
	return b.String()
}

// DOT returns the graph in the language of Graphviz.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph provenance {\n  rankdir=LR;\n  node [shape=box, style=filled];\n")
	drawn := map[string]bool{}
	for i, t := range g.Turns {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotText(t.TurnID))
		for _, n := range t.Nodes {
			if drawn[n.ID] {
				continue
			}
			drawn[n.ID] = true
			color, width := dotStyle(nodeClass(n))
			fmt.Fprintf(&b, "    %s [label=%s, fillcolor=%q, penwidth=%d];\n", dotText(n.ID), dotText(nodeLines(n)...), color, width)
		}
		b.WriteString("  }\n")
	}
	for e := range g.edges {
		fmt.Fprintf(&b, "  %s -> %s [label=%s];\n", dotText(e.From), dotText(e.To), dotText(string(e.Relation)))
	}
	b.WriteString("}\n")
	return b.String()
}

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

// nodeLines returns what a node says of itself in a diagram.
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

func dotStyle(class string) (color string, width int) {
	switch class {
	case "blocked":
		return "#ffbbbb", 3
	case "low":
		return "#ffdddd", 1
	case "middle":
		return "#ffffdd", 1
	}
	return "#ddffdd", 1
}

// mermaidID returns an id of ours in the letters Mermaid allows.
func mermaidID(id string) string { return strings.ReplaceAll(id, "-", "_") }

// mermaidText writes a text so that Mermaid shows it and does nothing else
// with it: only letters, digits and blanks stay, and each other character is
// its number. What cannot be seen is left out.
func mermaidText(s string) string {
	var b strings.Builder
	eachVisible(s, func(r rune) {
		if unicode.IsLetter(r) || r >= '0' && r <= '9' || strings.ContainsRune("_.- ", r) {
			b.WriteRune(r)
			return
		}
		fmt.Fprintf(&b, "#%d;", r)
	})
	return b.String()
}

// eachVisible yields what a person sees of a foreign text: without characters that do
// not show, and with every sort of space as a blank.
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

// dotText writes lines as one quoted string of DOT.
func dotText(lines ...string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, line := range lines {
		if i > 0 {
			b.WriteString(`\n`)
		}
		eachVisible(line, func(r rune) {
			switch r {
			case '"', '\\':
				b.WriteByte('\\')
				b.WriteRune(r)
			case '&': // DOT reads HTML entities
				b.WriteString("&amp;")
			default:
				b.WriteRune(r)
			}
		})
	}
	b.WriteByte('"')
	return b.String()
}

// visible returns at most n characters of s on one line, with a dot for each
// that would hide or reorder others, and more if something is missing.
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
