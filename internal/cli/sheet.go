package cli

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

// A Sheet collects text for people. Foreign names go in through its methods, which drop what could
// steer a terminal and break lines at the width that every terminal has.
type Sheet struct {
	B  strings.Builder
	St Style
}

func (p *Sheet) String() string { return p.B.String() }

// Title begins a part, with an empty line before it unless it is the first.
func (p *Sheet) Title(text string) {
	if p.B.Len() > 0 {
		p.B.WriteByte('\n')
	}
	p.B.WriteString(p.St.Bold(Plain(text)) + "\n")
}

// Line writes text below each other, indented by so many spaces. Lines after
// the first are indented two more.
func (p *Sheet) Line(by int, text string) { p.Painted(by, text, nil) }

// Painted is a line in a colour.
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

// List is a title with lines below it, and nothing without lines. At 0 it begins a part.
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

// A Cell is one field of a table, with a colour that has no width.
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

// A field is bounded, so that one long name does not push the others away. The last one pushes
// nothing: it is often a path, which has to be whole.
const (
	MaxCell = 100
	maxLast = 4096
)

// Table writes rows with their fields below each other.
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

// Plain returns foreign text on one line, without what could steer a terminal.
func Plain(s string) string { return linetext.Plain(s) }

// Cut shortens text that is too wide.
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

// WholeWord is how long a word may be and still stand on a line of its own: a path or a URL that is
// broken cannot be used.
const WholeWord = 512

// Stamp is a time for people, in their own zone.
func Stamp(t *timestamppb.Timestamp) string {
	if t == nil || t.AsTime().Year() <= 1 {
		return "-" // not known
	}
	return t.AsTime().Local().Format("2006-01-02 15:04:05")
}

// ClockTime is the time of day.
func ClockTime(t *timestamppb.Timestamp) string { return t.AsTime().Local().Format(time.TimeOnly) }

// Span is a length of time as people say it.
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

// LabelText is a label as policies write it.
func LabelText(l *wire.Label) string { return l.GetTrust() + "/" + l.GetSecrecy() }

// ToolText names a tool for people.
func ToolText(t *wire.ToolRef) string {
	return ToolTitle(floodmark.ToolRef{Agent: t.GetAgent(), Server: t.GetServer(), Name: t.GetName()})
}

// ActionText names what an agent tried.
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

// OriginText says in a few words where content came from.
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

// Short is the beginning of a digest: enough to name content by.
func Short(digest string) string { return digest[:min(8, len(digest))] }

// A Style colours text for people, and knows how wide a line may be. The zero
// Style colours nothing and has the width every terminal has.
type Style struct {
	On    bool
	width int
}

// The widths that lines are fitted to; beyond them they are hard to read.
const (
	MinWidth = 40
	MaxWidth = 160
)

// Columns is where text wraps.
func (s Style) Columns() int {
	if s.width == 0 {
		return HelpWidth
	}
	return min(max(s.width, MinWidth), MaxWidth)
}

// OutStyle is the style of standard output: colours only on a terminal, unless NO_COLOR or
// --no-color turns them off (no-color.org).
func (c *Console) OutStyle() Style {
	width, err := strconv.Atoi(c.Getenv("COLUMNS"))
	if err != nil || width <= 0 {
		width = 0
	}
	return Style{On: c.StdoutTerminal && c.coloured(), width: width}
}

// ErrStyle is the style of standard error.
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
