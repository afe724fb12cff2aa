package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// A series is one line of a panel, or unconnected points.
type series struct {
	name   string
	colour string
	x, y   []float64
	loose  bool
}

// A panel is a diagram with logarithmic axes.
type panel struct {
	title, under string // under is the label of the horizontal axis
	series       []series
	diagonal     bool // draw the line on which both values are equal
}

// The sizes, colours and texts of the picture.
const (
	panelWide, panelHigh      = 420, 280
	left, right, top, bottom  = 58, 20, 44, 46
	blue, red, green          = "#1f5fa8", "#b3261e", "#2e7d32"
	panelInnerW, panelInnerH  = panelWide - left - right, panelHigh - top - bottom
	pictureWide, pictureHigh  = 2 * panelWide, 2 * panelHigh
	pictureName, dotRadius    = "What a fleet takes from one to a million decisions a second", 3.5
	legendStep, legendAt, gap = 15, 14, 8
)

// picture draws how a fleet grows, and the simulation beside the measurements.
func picture(s *scaled) []byte {
	var rates, nodes, shards, p50, p99, stored, cost []float64
	for _, d := range s.Decades {
		rates = append(rates, d.Rate)
		nodes, shards = append(nodes, float64(d.Nodes)), append(shards, float64(d.Shards))
		p50, p99 = append(p50, d.P50/1000), append(p99, d.P99/1000)
		stored, cost = append(stored, d.StoredTB), append(cost, d.Cost)
	}
	var saw, said []float64
	for _, c := range s.Checks {
		saw, said = append(saw, c.Measured), append(said, c.Simulated)
	}
	const to = "decisions a second"
	panels := []panel{
		{title: "Nodes and shards", under: to, series: []series{{"nodes", blue, rates, nodes, false}, {"shards, each with a replica", red, rates, shards, false}}},
		{title: "Time of a decision, ms (simulated)", under: to, series: []series{{"p99", red, rates, p99, false}, {"p50", blue, rates, p50, false}}},
		{title: "Stored in a day, TB; cost of a million", under: to, series: []series{{"TB a day, one copy", blue, rates, stored, false}, {"cost, at example prices", green, rates, cost, false}}},
		{title: "Simulated beside measured, a second", under: "measured", diagonal: true, series: []series{{"1, 2 and 4 shards, 1 to 256 in flight", blue, saw, said, true}}},
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img" aria-label="%s">`+"\n", pictureWide, pictureHigh, pictureName)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", pictureWide, pictureHigh)
	for i, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", i%2*panelWide, i/2*panelHigh)
		p.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// powers returns the powers of ten around all values.
func powers(lists ...[]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, v := range list {
			if v > 0 {
				low, high = min(low, math.Floor(math.Log10(v))), max(high, math.Ceil(math.Log10(v)))
			}
		}
	}
	if math.IsInf(low, 1) {
		return 0, 1
	}
	return low, max(high, low+1)
}

func (p panel) draw(b *bytes.Buffer) {
	var xs, ys [][]float64
	for _, s := range p.series {
		xs, ys = append(xs, s.x), append(ys, s.y)
	}
	if p.diagonal { // both axes are the same
		xs = append(xs, ys...)
		ys = xs
	}
	x0, x1 := powers(xs...)
	y0, y1 := powers(ys...)
	x := func(v float64) float64 { return left + (math.Log10(v)-x0)/(x1-x0)*panelInnerW }
	y := func(v float64) float64 { return top + panelInnerH - (math.Log10(v)-y0)/(y1-y0)*panelInnerH }
	fmt.Fprintf(b, `<text x="%d" y="24" font-weight="bold" fill="#222222">%s</text>`+"\n", left-40, p.title)
	for e := x0; e <= x1; e++ {
		at := x(math.Pow(10, e))
		fmt.Fprintf(b, `<path d="M%.1f %d V%d" stroke="#e4e4e4"/><text x="%.1f" y="%d" text-anchor="middle" fill="#555555">%s</text>`+"\n", at, top, top+panelInnerH, at, top+panelInnerH+16, short(e))
	}
	for e := y0; e <= y1; e++ {
		at := y(math.Pow(10, e))
		fmt.Fprintf(b, `<path d="M%d %.1f H%d" stroke="#e4e4e4"/><text x="%d" y="%.1f" text-anchor="end" fill="#555555">%s</text>`+"\n", left, at, left+panelInnerW, left-6, at+4, short(e))
	}
	fmt.Fprintf(b, `<path d="M%d %d V%d H%d" fill="none" stroke="#888888"/>`+"\n", left, top, top+panelInnerH, left+panelInnerW)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end" fill="#555555">%s</text>`+"\n", left+panelInnerW, top+panelInnerH+34, p.under)
	if p.diagonal {
		fmt.Fprintf(b, `<path d="M%d %d L%d %d" stroke="#888888" stroke-dasharray="5 4"/>`+"\n", left, top+panelInnerH, left+panelInnerW, top)
	}
	for i, s := range p.series {
		s.draw(b, x, y)
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", left+gap, top+legendAt+i*legendStep, s.colour, s.name)
	}
}

func (s series) draw(b *bytes.Buffer, x, y func(float64) float64) {
	var line []string
	for i := range s.x {
		line = append(line, fmt.Sprintf("%.1f,%.1f", x(s.x[i]), y(s.y[i])))
	}
	if !s.loose {
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(line, " "), s.colour)
	}
	for i := range s.x {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%g" fill="%s"/>`+"\n", x(s.x[i]), y(s.y[i]), dotRadius, s.colour)
	}
}

// short formats a power of ten for people.
func short(e float64) string {
	switch {
	case e >= 6:
		return fmt.Sprintf("%gM", math.Pow(10, e-6))
	case e >= 3:
		return fmt.Sprintf("%gk", math.Pow(10, e-3))
	}
	return fmt.Sprintf("%g", math.Pow(10, e))
}
