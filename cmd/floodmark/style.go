package main

// A style colours text for people. The zero style colours nothing.
type style struct{ on bool }

// outStyle is the style of standard output: colours only on a terminal, and
// only if nobody asked for none (no-color.org).
func (c *console) outStyle() style { return style{on: c.stdoutTerminal && c.coloured()} }

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
