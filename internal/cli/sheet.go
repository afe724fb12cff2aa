package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/wire"
)

// A Sheet collects text for people. Its methods remove characters from foreign text that could
// control a terminal, and wrap lines.
type Sheet struct {
	B  strings.Builder
	St Style
}

func (p *Sheet) String() string { return p.B.String() }

// Title begins a section, with an empty line before it unless it is the first.
func (p *Sheet) Title(text string) {
	if p.B.Len() > 0 {
		p.B.WriteByte('\n')
	}
	p.B.WriteString(p.St.Bold(Plain(text)) + "\n")
}

// Line writes text, wrapped and indented by that many spaces. Wrapped lines are indented by two
// more.
func (p *Sheet) Line(by int, text string) { p.Painted(by, text, nil) }

// Painted is Line in a colour.
func (p *Sheet) Painted(by int, text string, paint func(string) string) {
	for i, l := range linetext.Wrap(text, p.St.Columns()-by-2, WholeWord) {
		if i > 0 {
			l = "  " + l
		}
		if paint != nil {
			l = paint(l)
		}
		p.B.WriteString(strings.Repeat(" ", by) + l + "\n")
	}
}

// List writes a title with lines below it, or nothing if there are no lines. With by 0 the title
// begins a section.
func (p *Sheet) List(by int, title string, lines []string) {
	switch {
	case len(lines) > 0 && by == 0:
		p.Title(title)
	case len(lines) > 0:
		p.Line(by, title)
	}
	for _, l := range lines {
		p.Line(by+2, l)
	}
}

// A Cell is one field of a table, with a function that colours it.
type Cell struct {
	Text  string
	Paint func(string) string
}

// Cells makes a row of plain texts.
func Cells(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, t := range texts {
		row[i].Text = t
	}
	return row
}

// The limits on the width of a field, so that one long name does not push the other columns away.
// The last field of a row may be longer: it is often a path, which must not be cut.
const (
	MaxCell = 100
	maxLast = 4096
)

// Table writes rows with their fields aligned in columns.
func (p *Sheet) Table(by int, rows [][]Cell) {
	var widths []int
	for _, row := range rows {
		for i := range row {
			most := MaxCell
			if i == len(row)-1 {
				most = maxLast
			}
			row[i].Text = Cut(Plain(row[i].Text), most)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(row[i].Text))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-lipgloss.Width(c.Text)+2)
			if c.Paint != nil {
				c.Text = c.Paint(c.Text)
			}
			b.WriteString(c.Text + pad)
		}
		p.B.WriteString(strings.Repeat(" ", by) + strings.TrimRight(b.String(), " ") + "\n")
	}
}

// Plain returns foreign text on one line, without characters that could control a terminal.
func Plain(s string) string { return linetext.Plain(s) }

// Cut shortens a text that is wider than width.
func Cut(s string, width int) string {
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

// WholeWord is how long a word may be to be kept on one line: a broken path or URL cannot be used.
const WholeWord = 512

// Stamp formats a time in the person's time zone.
func Stamp(t *timestamppb.Timestamp) string {
	if t == nil || t.AsTime().Year() <= 1 {
		return "-" // unknown
	}
	return t.AsTime().Local().Format("2006-01-02 15:04:05")
}

// ClockTime formats the time of day.
func ClockTime(t *timestamppb.Timestamp) string { return t.AsTime().Local().Format(time.TimeOnly) }

// Span formats a duration as people say it.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Minute:
		return Count(int(d.Seconds()), "second", "seconds")
	case d < 2*time.Hour:
		return Count(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		return Count(int(d.Hours()), "hour", "hours")
	}
	return Count(int(d.Hours()/24), "day", "days")
}

// LabelText formats a label as in policies.
func LabelText(l *wire.Label) string { return l.GetTrust() + "/" + l.GetSecrecy() }

// ToolText names a tool for people.
func ToolText(t *wire.ToolRef) string {
	return ToolTitle(floodmark.ToolRef{Agent: t.GetAgent(), Server: t.GetServer(), Name: t.GetName()})
}

// ActionText says what an agent tried to do.
func ActionText(a *wire.Action) string {
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
	return ToolText(a.GetTool())
}

// OriginText says briefly where content came from.
func OriginText(o *wire.Origin) string {
	name := o.GetKind()
	switch floodmark.OriginKind(o.GetKind()) {
	case floodmark.FromTool:
		name = ToolText(&wire.ToolRef{Server: o.GetServer(), Name: o.GetName()})
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

// Short returns the first characters of a digest, enough to identify content.
func Short(digest string) string { return digest[:min(8, len(digest))] }

// A Style colours text for people and knows the terminal's width. The zero Style adds no colours
// and has the width that every terminal has.
type Style struct {
	On    bool
	width int
}

// The widths between which lines are wrapped. Longer lines are hard to read.
const (
	MinWidth = 40
	MaxWidth = 160
)

// Columns returns the width at which text wraps.
func (s Style) Columns() int {
	if s.width == 0 {
		return HelpWidth
	}
	return min(max(s.width, MinWidth), MaxWidth)
}

// OutStyle returns the style of standard output. Colours are used only on a terminal, unless
// NO_COLOR or --no-color turns them off (no-color.org).
func (c *Console) OutStyle() Style {
	width, err := strconv.Atoi(c.Getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width = 0
	}
	return Style{On: c.StdoutTerminal && c.coloured(), width: width}
}

// ErrStyle returns the style of standard error.
func (c *Console) ErrStyle() Style { return Style{On: c.StderrTerminal && c.coloured()} }

func (c *Console) coloured() bool {
	return !c.NoColor && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
}

// Bold makes a text bold on a terminal.
func (s Style) Bold(text string) string { return s.with("1", text) }

// Dim makes a text faint on a terminal.
func (s Style) Dim(text string) string { return s.with("2", text) }

// Red makes a text red on a terminal.
func (s Style) Red(text string) string { return s.with("31", text) }

// Green makes a text green on a terminal.
func (s Style) Green(text string) string { return s.with("32", text) }

// Yellow makes a text yellow on a terminal.
func (s Style) Yellow(text string) string { return s.with("33", text) }

func (s Style) with(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
