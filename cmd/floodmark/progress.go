package main

import (
	"fmt"
	"strings"
)

// barWidth is how many characters a bar has.
const barWidth = 30

// A progress shows how far a long command is, on a terminal's standard error.
// Anywhere else it shows nothing: logs do not need it.
type progress struct {
	c     *console
	label string
	shown int // the last percentage; -1: nothing yet
}

func (c *console) newProgress(label string) *progress {
	return &progress{c: c, label: label, shown: -1}
}

// update is called with how much is done, as often as one likes.
func (p *progress) update(done, total int) {
	if !p.c.stderrTerminal || total == 0 {
		return
	}
	percent := 100 * done / total
	if percent == p.shown {
		return
	}
	p.shown = percent
	full := barWidth * done / total
	fmt.Fprintf(p.c.stderr, "\r%s [%s%s] %3d %%", p.label, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), percent)
}

// end takes the bar away.
func (p *progress) end() {
	if p.shown >= 0 {
		fmt.Fprint(p.c.stderr, "\r\x1b[K")
	}
}
