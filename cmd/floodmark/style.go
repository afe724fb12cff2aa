package main

import "strconv"

// A style colours text for people, and knows how wide a line may be. The zero
// style colours nothing and has the width every terminal has.
type style struct {
	on    bool
	width int
}

// The widths that lines are fitted to; beyond them they are hard to read.
const (
	minWidth = 40
	maxWidth = 160
)

// columns is where text wraps.
func (s style) columns() int {
	if s.width == 0 {
		return helpWidth
	}
	return min(max(s.width, minWidth), maxWidth)
}

// outStyle is the style of standard output: colours only on a terminal, and
// only if nobody asked for none (no-color.org).
func (c *console) outStyle() style {
	width, err := strconv.Atoi(c.getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width = 0
	}
	return style{on: c.stdoutTerminal && c.coloured(), width: width}
}

// errStyle is the style of standard error.
func (c *console) errStyle() style { return style{on: c.stderrTerminal && c.coloured()} }

func (c *console) coloured() bool {
	return !c.noColor && c.getenv("NO_COLOR") == "" && c.getenv("TERM") != "dumb"
}

func (s style) bold(text string) string   { return s.with("1", text) }
func (s style) dim(text string) string    { return s.with("2", text) }
func (s style) red(text string) string    { return s.with("31", text) }
func (s style) green(text string) string  { return s.with("32", text) }
func (s style) yellow(text string) string { return s.with("33", text) }

func (s style) with(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
