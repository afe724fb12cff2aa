package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// The sizes and limits of a drawing, in its own units.
const (
	boxWidth   = 250
	boxPad     = 10
	lineHeight = 16
	columnGap  = 90
	rowGap     = 18
	margin     = 24
	headHeight = 58
	turnHead   = 30
	maxBoxes   = 400 // a drawing with more is unreadable; the format turngraph has all nodes
	boxRunes   = 34  // characters in a line of a box
	boxLines   = 5
)

// SVG draws the graph for a report. Each turn is a band, in which content flows from left to right.
// Less trusted nodes are redder. Refused nodes have a thick frame, and the paths to them are red.
// Names are foreign text, so they are shortened and escaped. The drawing loads nothing and runs
// nothing.
func (g *Graph) SVG() string {
	d := &drawing{at: map[string]box{}}
	laid := make([][][]Node, len(g.Turns))
	most := 1
	for i, t := range g.Turns {
		laid[i] = layers(t.Nodes, t.Edges)
		most = max(most, len(laid[i]))
	}
	// All bands are as wide as the widest turn.
	d.band = max(most*boxWidth+(most-1)*columnGap+2*boxPad, 600)
	y := margin + headHeight
	for i, t := range g.Turns {
		y = d.turn(t, laid[i], y)
	}
	height := y + margin
	width := max(d.right+margin, 640)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, svgText("where the content of session "+string(g.Session)+" came from"))
	b.WriteString(svgHead)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="title">%s</text>`+"\n", margin, margin+14, svgText(visible(string(g.Session), 60, "…")+" · "+visible(g.Agent, 30, "…")))
	b.WriteString(legend(margin, margin+38))
	b.WriteString(d.bands.String())
	for _, e := range d.edges(g) {
		b.WriteString(e)
	}
	b.WriteString(d.boxes.String())
	if d.left > 0 {
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="note">%d more are not drawn: use --format turngraph</text>`+"\n", margin, height-8, d.left)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

const svgHead = `<style>
text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1c2430}
.title{font-size:16px;font-weight:600}
.turn{font-size:13px;font-weight:600;fill:#4a5568}
.kind{font-size:11px;fill:#5a6475}
.name{font-weight:600}
.note{font-size:11px;fill:#5a6475}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8792a2"/></marker>
<marker id="red" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#c0262d"/></marker></defs>
`

// legend returns an explanation of the colours.
func legend(x, y int) string {
	var b strings.Builder
	for _, l := range []struct{ class, text string }{
		{"high", "owner, system"}, {"middle", "shared, local"}, {"low", "external, untrusted"}, {"blocked", "refused or asked"},
	} {
		fill, stroke, wide := svgColours(l.class)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="14" height="14" rx="3" fill="%s" stroke="%s" stroke-width="%d"/><text x="%d" y="%d" class="note">%s</text>`+"\n",
			x, y-11, fill, stroke, wide, x+20, y, l.text)
		x += 46 + 7*len(l.text)
	}
	return b.String()
}

func svgColours(class string) (fill, stroke string, wide int) {
	switch class {
	case "blocked":
		return "#ffe3e3", "#c0262d", 3
	case "low":
		return "#fff0ee", "#e08a80", 1
	case "middle":
		return "#fff8e1", "#d9b24c", 1
	}
	return "#eaf6ee", "#7fb893", 1
}

// A box is the position and size of a node in the drawing.
type box struct{ x, y, w, h int }

type drawing struct {
	at           map[string]box
	bands, boxes strings.Builder
	band         int // the width of a turn's band
	right        int // the right edge of the boxes
	left         int // how many nodes are not drawn
}

// turn draws one band and returns the position of the next one.
func (d *drawing) turn(t Turn, columns [][]Node, y int) int {
	d.drop(columns)
	top := y + turnHead
	bottom := top
	for c, nodes := range columns {
		x, at := margin+boxPad+c*(boxWidth+columnGap), top
		for _, n := range nodes {
			if len(d.at) >= maxBoxes {
				d.left++
				continue
			}
			b := box{x, at, boxWidth, boxPad + lineHeight*len(boxText(n)) + boxPad/2}
			d.at[n.ID] = b
			d.draw(n, b)
			at += b.h + rowGap
			bottom = max(bottom, at)
			d.right = max(d.right, x+boxWidth+boxPad)
		}
	}
	if bottom == top {
		return y
	}
	fmt.Fprintf(&d.bands, `<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="#f6f8fb" stroke="#dfe5ee"/><text x="%d" y="%d" class="turn">%s</text>`+"\n",
		margin, y, d.band, bottom-y, margin+boxPad, y+20, svgText(visible(t.TurnID, 40, "…")+" · lowest trust "+t.Summary.MaxTaint.String()))
	return bottom + rowGap
}

// drop removes the nodes that an earlier turn has drawn.
func (d *drawing) drop(columns [][]Node) {
	for c := range columns {
		columns[c] = slices.DeleteFunc(columns[c], func(n Node) bool { _, drawn := d.at[n.ID]; return drawn })
	}
}

// layers returns the nodes in columns. Each node is one column after the last of the nodes from
// which content reached it. There are no cycles, because content flows forward in time.
func layers(nodes []Node, edges []Edge) [][]Node {
	depth := make(map[string]int, len(nodes))
	for range nodes { // at most as many rounds as there are nodes
		moved := false
		for _, e := range edges {
			from, to := e.flow()
			if want := depth[from] + 1; depth[to] < want && want < len(nodes) {
				depth[to], moved = want, true
			}
		}
		if !moved {
			break
		}
	}
	var columns [][]Node
	for _, n := range nodes {
		for len(columns) <= depth[n.ID] {
			columns = append(columns, nil)
		}
		columns[depth[n.ID]] = append(columns[depth[n.ID]], n)
	}
	return columns
}

func (d *drawing) draw(n Node, b box) {
	fill, stroke, wide := svgColours(nodeClass(n))
	fmt.Fprintf(&d.boxes, `<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="%s" stroke-width="%d"/>`+"\n",
		svgText(strings.Join(nodeLines(n), " · ")), b.x, b.y, b.w, b.h, fill, stroke, wide)
	for i, line := range boxText(n) {
		class := ""
		switch i {
		case 0:
			class = ` class="kind"`
		case 1:
			class = ` class="name"`
		}
		fmt.Fprintf(&d.boxes, `<text x="%d" y="%d"%s>%s</text>`+"\n", b.x+boxPad, b.y+boxPad+lineHeight*(i+1)-5, class, svgText(line))
	}
	d.boxes.WriteString("</g>\n")
}

// boxText returns the text of a box, wrapped to its width.
func boxText(n Node) []string {
	var out []string
	for _, line := range nodeLines(n) {
		for len(out) < boxLines && line != "" {
			runes := []rune(line)
			if len(runes) <= boxRunes {
				out = append(out, line)
				break
			}
			cut := boxRunes
			for at := boxRunes; at > boxRunes/2; at-- {
				if unicode.IsSpace(runes[at]) {
					cut = at
					break
				}
			}
			out = append(out, strings.TrimSpace(string(runes[:cut])))
			line = strings.TrimSpace(string(runes[cut:]))
		}
	}
	return out
}

// edges draws every edge once. Edges on the way to a refusal are red.
func (d *drawing) edges(g *Graph) []string {
	guilty := map[string]bool{}
	for id := range g.blame {
		for _, trail := range g.Blame(id) {
			for _, n := range trail {
				guilty[n.ID] = true
			}
		}
	}
	var out []string
	for e := range g.edges {
		from, to := e.flow()
		a, ok := d.at[from]
		b, ok2 := d.at[to]
		if !ok || !ok2 {
			continue
		}
		colour, tip, wide := "#b6bfcc", "tip", 1
		if guilty[from] && guilty[to] {
			colour, tip, wide = "#c0262d", "red", 2
		}
		x1, y1, x2, y2 := a.x+a.w, a.y+a.h/2, b.x-2, b.y+b.h/2
		if b.x <= a.x { // the target is in an earlier column, for example of a later turn
			x1, y1, x2, y2 = a.x+a.w/2, a.y+a.h, b.x+b.w/2, b.y-2
			out = append(out, fmt.Sprintf(`<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="%s" stroke-width="%d" marker-end="url(#%s)"><title>%s</title></path>`+"\n",
				x1, y1, x1, y1+30, x2, y2-30, x2, y2, colour, wide, tip, e.Relation))
			continue
		}
		bend := min(columnGap, (x2-x1)/2)
		out = append(out, fmt.Sprintf(`<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="%s" stroke-width="%d" marker-end="url(#%s)"><title>%s</title></path>`+"\n",
			x1, y1, x1+bend, y1, x2-bend, y2, x2, y2, colour, wide, tip, e.Relation))
	}
	return out
}

// svgText returns a text that is escaped for SVG, without invisible characters.
func svgText(s string) string {
	var b strings.Builder
	eachVisible(s, func(r rune) {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		case '\'':
			b.WriteString("&#39;")
		default:
			b.WriteRune(r)
		}
	})
	return b.String()
}
