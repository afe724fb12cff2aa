package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// A panel is the chart of one figure over the number of sessions.
type panel struct {
	title  string
	unit   string
	goal   float64
	values func(grown) float64
}

func panels() []panel {
	return []panel{
		{"Decision in a session that must be read, p99", "ms", goalColdMS, func(g grown) float64 { return g.Socket.Cold.P99 }},
		{"Decision in a session that is remembered, p99", "ms", 0, func(g grown) float64 { return g.Socket.Warm.P99 }},
		{"First answer after a restart", "s", goalFirst / 1000, func(g grown) float64 { return g.FirstAnswer / 1000 }},
		{"Resident memory, up to 20,000 active", "GiB", goalBytes >> 30, func(g grown) float64 { return float64(g.PeakBytes) / (1 << 30) }},
	}
}

// The size of the picture.
const (
	panelWide, panelHigh = 400, 240
	marginLeft           = 52
	marginTop            = 40
	marginBottom         = 36
	marginRight          = 24
)

// plot draws how the figures of a node grow with the number of sessions it knows.
func plot(all []grown) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img" aria-label="What a node costs as it knows more sessions">`+"\n", 2*panelWide, 2*panelHigh)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", 2*panelWide, 2*panelHigh)
	for i, p := range panels() {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", i%2*panelWide, i/2*panelHigh)
		p.draw(&b, all)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p panel) draw(b *bytes.Buffer, all []grown) {
	top := p.goal
	for _, g := range all {
		top = math.Max(top, p.values(g))
	}
	top *= 1.15
	first, last := math.Log10(float64(all[0].Sessions)), math.Log10(float64(all[len(all)-1].Sessions))
	x := func(g grown) float64 {
		if last == first {
			return marginLeft
		}
		return marginLeft + (math.Log10(float64(g.Sessions))-first)/(last-first)*(panelWide-marginLeft-marginRight)
	}
	y := func(v float64) float64 { return panelHigh - marginBottom - v/top*(panelHigh-marginTop-marginBottom) }
	fmt.Fprintf(b, `<text x="%d" y="22" font-weight="bold" fill="#222222">%s (%s)</text>`+"\n", marginLeft-36, p.title, p.unit)
	fmt.Fprintf(b, `<path d="M%d %d V%.1f H%d" fill="none" stroke="#888888"/>`+"\n", marginLeft, marginTop, y(0), panelWide-marginRight)
	if p.goal > 0 {
		fmt.Fprintf(b, `<path d="M%d %.1f H%d" stroke="#b3261e" stroke-dasharray="5 4"/>`+"\n", marginLeft, y(p.goal), panelWide-marginRight)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end" fill="#b3261e">goal %g</text>`+"\n", panelWide-marginRight, y(p.goal)-5, p.goal)
	}
	var line []string
	for _, g := range all {
		line = append(line, fmt.Sprintf("%.1f,%.1f", x(g), y(p.values(g))))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#1f5fa8" stroke-width="2"/>`+"\n", strings.Join(line, " "))
	for i, g := range all {
		anchor := "middle"
		if i == len(all)-1 {
			anchor = "end"
		}
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#1f5fa8"/>`+"\n", x(g), y(p.values(g)))
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#222222">%.3g</text>`+"\n", x(g), y(p.values(g))-9, anchor, p.values(g))
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="%s" fill="#555555">%s</text>`+"\n", x(g), panelHigh-marginBottom+18, anchor, thousands(g.Sessions))
	}
}

func thousands(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%g million sessions", float64(n)/1e6)
	}
	return fmt.Sprintf("%d,000", n/1000)
}
