package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/linetext"
	"github.com/floodmark/floodmark/wire"
)

// A sheet collects text for people. Foreign names go in through its methods, which drop what could
// steer a terminal and break lines at the width that every terminal has.
type sheet struct {
	b  strings.Builder
	st style
}

func (p *sheet) String() string { return p.b.String() }

// title begins a part, with an empty line before it unless it is the first.
func (p *sheet) title(text string) {
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	p.b.WriteString(p.st.bold(plain(text)) + "\n")
}

// line writes text below each other, indented by so many spaces. Lines after
// the first are indented two more.
func (p *sheet) line(by int, text string) { p.painted(by, text, nil) }

// painted is a line in a colour.
func (p *sheet) painted(by int, text string, paint func(string) string) {
	for i, l := range linetext.Wrap(text, p.st.columns()-by-2, wholeWord) {
		if i > 0 {
			l = "  " + l
		}
		if paint != nil {
			l = paint(l)
		}
		p.b.WriteString(strings.Repeat(" ", by) + l + "\n")
	}
}

// list is a title with lines below it, and nothing without lines. At 0 it begins a part.
func (p *sheet) list(by int, title string, lines []string) {
	switch {
	case len(lines) > 0 && by == 0:
		p.title(title)
	case len(lines) > 0:
		p.line(by, title)
	}
	for _, l := range lines {
		p.line(by+2, l)
	}
}

// A cell is one field of a table, with a colour that has no width.
type cell struct {
	text  string
	paint func(string) string
}

func cells(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, t := range texts {
		row[i].text = t
	}
	return row
}

// A field is bounded, so that one long name does not push the others away. The last one pushes
// nothing: it is often a path, which has to be whole.
const (
	maxCell = 100
	maxLast = 4096
)

// table writes rows with their fields below each other.
func (p *sheet) table(by int, rows [][]cell) {
	var widths []int
	for _, row := range rows {
		for i := range row {
			most := maxCell
			if i == len(row)-1 {
				most = maxLast
			}
			row[i].text = cut(plain(row[i].text), most)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(row[i].text))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-lipgloss.Width(c.text)+2)
			if c.paint != nil {
				c.text = c.paint(c.text)
			}
			b.WriteString(c.text + pad)
		}
		p.b.WriteString(strings.Repeat(" ", by) + strings.TrimRight(b.String(), " ") + "\n")
	}
}

// plain returns foreign text on one line, without what could steer a terminal.
func plain(s string) string { return linetext.Plain(s) }

// cut shortens text that is too wide.
func cut(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		w := lipgloss.Width(string(r))
		if n+w > width-1 {
			break
		}
		b.WriteRune(r)
		n += w
	}
	return b.String() + "…"
}

// wholeWord is how long a word may be and still stand on a line of its own: a path or a URL that is
// broken cannot be used.
const wholeWord = 512

// stamp is a time for people, in their own zone.
func stamp(t *timestamppb.Timestamp) string {
	if t == nil || t.AsTime().Year() <= 1 {
		return "-" // not known
	}
	return t.AsTime().Local().Format("2006-01-02 15:04:05")
}

// clockTime is the time of day.
func clockTime(t *timestamppb.Timestamp) string { return t.AsTime().Local().Format(time.TimeOnly) }

// span is a length of time as people say it.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Minute:
		return count(int(d.Seconds()), "second", "seconds")
	case d < 2*time.Hour:
		return count(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		return count(int(d.Hours()), "hour", "hours")
	}
	return count(int(d.Hours()/24), "day", "days")
}

// labelText is a label as policies write it.
func labelText(l *wire.Label) string { return l.GetTrust() + "/" + l.GetSecrecy() }

// toolText names a tool for people.
func toolText(t *wire.ToolRef) string {
	return toolTitle(floodmark.ToolRef{Agent: t.GetAgent(), Server: t.GetServer(), Name: t.GetName()})
}

// actionText names what an agent tried.
func actionText(a *wire.Action) string {
	switch a.GetKind() {
	case string(floodmark.CallModel):
		return fmt.Sprintf("call the model (round %d)", a.GetIteration())
	case string(floodmark.SendReply):
		if a.GetAudience() == "" {
			return "answer others"
		}
		return "answer " + a.GetAudience()
	case string(floodmark.SpawnAgent):
		return "begin sub-agent " + a.GetChild()
	}
	return toolText(a.GetTool())
}

// originText says in a few words where content came from.
func originText(o *wire.Origin) string {
	name := o.GetKind()
	switch floodmark.OriginKind(o.GetKind()) {
	case floodmark.FromTool:
		name = toolText(&wire.ToolRef{Server: o.GetServer(), Name: o.GetName()})
	case floodmark.FromSender:
		name = "message from " + o.GetSender()
		if o.GetIsOwner() {
			name = "message from the owner"
		}
	default:
		if o.GetName() != "" {
			name += " " + o.GetName()
		}
	}
	if o.GetPlace() != "" {
		name += " " + o.GetPlace()
	}
	return name
}

// short is the beginning of a digest: enough to name content by.
func short(digest string) string { return digest[:min(8, len(digest))] }

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

// outStyle is the style of standard output: colours only on a terminal, unless NO_COLOR or
// --no-color turns them off (no-color.org).
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
