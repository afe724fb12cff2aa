package protection

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// A point is one system in the chart.
type point struct {
	name   string
	x, y   float64 // questions per task, percent of attacks that pass
	sort   pointSort
	arrow  bool   // the real value is further to the right
	detail string // a description for people who cannot see the chart
}

type pointSort uint8

const (
	ours   pointSort = iota // Floodmark: a filled circle
	plainA                  // a comparison policy on the same runs: a square
	theirs                  // figures that others published, from other runs: a hollow diamond
)

// The measures of the chart, in its own units.
const (
	chartWidth, chartHeight           = 720.0, 400.0
	plotLeft, plotRight               = 64.0, 640.0
	plotTop, plotBottom               = 24.0, 336.0
	letterWidth                       = 6.6  // the average width of a letter in a name
	maxPassed                         = 40.0 // percent, the top of every chart
	squareSize, circleSize, rhombSize = 5.0, 6.0, 6.5
)

// chart draws questions per task against attacks that pass. Both axes are scaled by square roots,
// because the differences near zero matter most.
func chart(id, title, desc string, points []point) string {
	right := 1.0
	for _, p := range points {
		right = max(right, p.x)
	}
	right = math.Ceil(right*2) / 2
	c := &drawing{right: right}
	fmt.Fprintf(&c.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-labelledby="%s-t %s-d" class="chart">`+"\n",
		chartWidth, chartHeight, id, id)
	fmt.Fprintf(&c.b, `<title id="%s-t">%s</title><desc id="%s-d">%s</desc>`+"\n", id, html.EscapeString(title), id, html.EscapeString(desc))
	c.b.WriteString(chartStyle)
	c.axes()
	c.points(points)
	c.b.WriteString("</svg>\n")
	return c.b.String()
}

// chartStyle contains the chart's colours, for use in a page and alone.
const chartStyle = `<style>
.chart{--ink:#1b2733;--soft:#5c6b7a;--line:#d5dce3;--own:#0b62c4;--other:#7a4b00;--paper:#fff;font:12px system-ui,sans-serif}
@media(prefers-color-scheme:dark){.chart{--ink:#e8edf2;--soft:#a3b0bd;--line:#38434e;--own:#6db3ff;--other:#e8b25a;--paper:#12181e}}
.chart text{fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:3px}.chart .soft{fill:var(--soft)}.chart .grid{stroke:var(--line);stroke-width:1}
.chart .own{fill:var(--own);stroke:var(--own)}.chart .plain{fill:var(--soft);stroke:var(--soft)}
.chart .other{fill:var(--paper);stroke:var(--other);stroke-width:1.8}.chart .lead{stroke:var(--soft);stroke-width:.7;fill:none}
.chart .b{font-weight:700}.chart .paper{fill:var(--paper)}.chart g:focus{outline:2px solid var(--own);outline-offset:2px}
</style>
<rect class="paper" width="100%" height="100%"/>
`

// A drawing is a chart that is being made.
type drawing struct {
	b     strings.Builder
	right float64 // questions per task at the right edge
}

func (c *drawing) x(v float64) float64 {
	return plotLeft + (plotRight-plotLeft)*math.Sqrt(v/c.right)
}

func (c *drawing) y(v float64) float64 {
	return plotBottom - (plotBottom-plotTop)*math.Sqrt(min(v, maxPassed)/maxPassed)
}

func (c *drawing) axes() {
	for _, v := range []float64{0, 0.5, 2, 5, 10, 20, 40} {
		y := c.y(v)
		fmt.Fprintf(&c.b, `<path class="grid" d="M%.1f %.1fH%.1f"/><text class="soft" x="%.1f" y="%.1f" text-anchor="end">%g %%</text>`+"\n",
			plotLeft, y, plotRight, plotLeft-8, y+4, v)
	}
	for _, v := range []float64{0, 0.05, 0.12, 0.25, 0.5, 1, 2, 3, 4} {
		if v > c.right {
			continue
		}
		x := c.x(v)
		fmt.Fprintf(&c.b, `<path class="grid" d="M%.1f %.1fV%.1f"/><text class="soft" x="%.1f" y="%.1f" text-anchor="middle">%g</text>`+"\n",
			x, plotTop, plotBottom, x, plotBottom+18, v)
	}
	fmt.Fprintf(&c.b, `<text x="%.1f" y="%.1f" text-anchor="middle">questions per honest task (fewer is better)</text>`+"\n", (plotLeft+plotRight)/2, plotBottom+42)
	fmt.Fprintf(&c.b, `<text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">attacks that pass (fewer is better)</text>`+"\n", (plotTop+plotBottom)/2)
}

// points draws the signs and then the names beside them, our own first. A name that would overlap
// another name or a sign is moved up or down.
func (c *drawing) points(points []point) {
	var taken []box
	for _, p := range points {
		x, y := c.x(p.x), c.y(p.y)
		taken = append(taken, box{x - 9, y - 8, x + 9, y + 8})
		if p.arrow {
			taken = append(taken, box{x, y - 6, x + 24, y + 6})
		}
	}
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b point) int { return cmp.Compare(a.sort, b.sort) })
	for _, p := range sorted {
		at := c.place(p, taken)
		taken = append(taken, at)
		c.point(p, at)
	}
}

// A box is an area in which something is drawn.
type box struct{ left, top, right, bottom float64 }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// place returns the area for a name: beside its sign, or a little higher or lower.
func (c *drawing) place(p point, taken []box) box {
	width := float64(len(p.name)) * letterWidth
	x, y := c.x(p.x)+12, c.y(p.y)
	if p.arrow {
		x += 16
	}
	if x+width > chartWidth {
		x = c.x(p.x) - 12 - width
	}
	best := box{x, y - 7, x + width, y + 7}
	for step := 0.0; step < 12; step++ {
		for _, sign := range []float64{-1, 1} {
			b := box{x, y - 7 + sign*step*8, x + width, y + 7 + sign*step*8}
			if step > 0 && b.right+8 < chartWidth {
				b.left, b.right = b.left+8, b.right+8
			}
			if b.top > plotTop-8 && b.bottom < plotBottom+6 && !slices.ContainsFunc(taken, b.meets) {
				return b
			}
		}
	}
	return best
}

func (c *drawing) point(p point, at box) {
	x, y := c.x(p.x), c.y(p.y)
	label := html.EscapeString(p.name + ": " + p.detail)
	fmt.Fprintf(&c.b, `<g tabindex="0" role="listitem" aria-label="%s"><title>%s</title>`, label, label)
	if middle := (at.top + at.bottom) / 2; math.Abs(middle-y) > 1 {
		end := at.left - 2
		if end < x {
			end = at.right + 2
		}
		fmt.Fprintf(&c.b, `<path class="lead" d="M%.1f %.1fL%.1f %.1f"/>`, x, y, end, middle)
	}
	weight := ""
	switch p.sort {
	case ours:
		weight = ` class="b"`
		fmt.Fprintf(&c.b, `<circle class="own" cx="%.1f" cy="%.1f" r="%.1f"/>`, x, y, circleSize)
	case plainA:
		fmt.Fprintf(&c.b, `<rect class="plain" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x-squareSize, y-squareSize, 2*squareSize, 2*squareSize)
	case theirs:
		fmt.Fprintf(&c.b, `<path class="other" d="M%.1f %.1fl%[3]g %[3]g l-%[3]g %[3]g l-%[3]g -%[3]gz"/>`, x, y-rhombSize, rhombSize)
		if p.arrow {
			fmt.Fprintf(&c.b, `<path class="other" d="M%.1f %.1fh14m-4 -4l4 4l-4 4" fill="none"/>`, x+rhombSize, y)
		}
	}
	fmt.Fprintf(&c.b, `<text%s x="%.1f" y="%.1f">%s</text></g>`+"\n", weight, at.left, at.bottom-3, html.EscapeString(p.name))
}
