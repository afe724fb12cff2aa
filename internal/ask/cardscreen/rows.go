package cardscreen

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/linetext"
	"github.com/floodmark/floodmark/wire"
)

// The rows of a card: at most six of 80 columns.
const (
	MaxRows = maxWhat + maxWhy + 1
	maxWhat = 3
	maxWhy  = 2
)

// A Row is one row of a card. A Strong row is emphasised, a Faint row may be read last.
type Row struct {
	Text          string
	Strong, Faint bool
}

// Card returns a call in at most [MaxRows] rows: what it would do, why it is asked about, and the
// keys. Characters that do not fit are counted.
func Card(q *wire.Question, width int, left time.Duration) []Row {
	return card(q, width, left, Choices(q))
}

func card(q *wire.Question, width int, left time.Duration, choices []Choice) []Row {
	one := call(q)
	what, _ := whatRows(one, width)
	var rows []Row
	for _, text := range what {
		rows = append(rows, Row{Text: text, Strong: true})
	}
	asked, room := one.GetAsked(), maxWhy
	if asked != "" && len(rows) == maxWhat {
		room-- // the quote of the owner is worth more than a second row of the reason
	}
	for _, text := range headRows("Why: "+one.GetWhy(), width, room) {
		rows = append(rows, Row{Text: text})
	}
	if asked != "" {
		quoted := "You had said: “" + floodmark.Visible(asked) + "”"
		rows = append(rows, Row{Text: headRows(quoted, width, 1)[0], Faint: true})
	}
	var keys []string
	for _, c := range choices {
		if c.Label != "" {
			keys = append(keys, c.Key+" "+c.Label)
		}
	}
	line := strings.Join(keys, " · ")
	if left > 0 {
		line += fmt.Sprintf(" · %s left", left.Round(time.Second))
	}
	return append(rows, Row{Text: linetext.Marked(line, width)[0], Faint: true})
}

// headRows returns at most most rows of a text. The last row says if there is more.
func headRows(text string, width, most int) []string {
	const more = " … (d)"
	rows := linetext.Marked(text, width)
	if len(rows) <= most {
		return rows
	}
	last := linetext.Marked(strings.TrimSpace(rows[most-1]), width-lipgloss.Width(more))[0]
	return append(rows[:most-1:most-1], strings.TrimSpace(last)+more)
}

// whatRows returns the rows that say what a call would do, and whether they say all of it.
func whatRows(one *wire.AskedCall, width int) ([]string, bool) {
	text := one.GetWhat()
	if text == "" {
		text = one.GetLine() // of a monitor of an older version
	}
	rows, left := linetext.Fitted(text, width, maxWhat, func(left int) string {
		return fmt.Sprintf("… %d more characters: d shows them", left)
	})
	return rows, left == 0
}

// fits reports whether the card of a call leaves out nothing at the width it was drawn.
func (s *Screen) fits(one *wire.AskedCall) bool {
	_, whole := whatRows(one, s.width)
	return whole && one.GetWhat() != ""
}

// Draw returns the rows of a screen of the given size. It remembers what was drawn, because a key
// answers only that. If the whole card does not fit, it draws a notice instead.
func (s *Screen) Draw(width, height int) []Row {
	if width != s.pages.width || height != s.pages.height { // the pages differ from those that were read
		s.pages, s.page = paging{width: width, height: height}, 0
		delete(s.read, s.drawn.name)
	}
	s.width = width
	q := s.Question()
	rows, now := s.rows(q, width, height), drawn{}
	switch {
	case s.help:
		rows = rows[:min(len(rows), max(0, height))]
	case q != nil && len(rows) <= height && width >= minWidth:
		now = drawn{name: name(q), details: s.details, page: s.page, trusting: s.trusting}
	case q != nil:
		rows = []Row{{Text: "Make this window larger to answer."}}
	}
	if now.name != s.drawn.name || now.trusting != s.drawn.trusting {
		now.since = s.Now()
	} else {
		now.since = s.drawn.since
	}
	s.drawn = now
	if now.name != "" && s.details && s.page+1 == s.pages.count {
		if s.read == nil || len(s.read) > maxTyped {
			s.read = map[string]bool{}
		}
		s.read[now.name] = true
	}
	return rows
}

// minWidth is the least width of a screen on which a question can be answered.
const minWidth = 30

// rows returns the notice and the card, a page of its details, or the help.
func (s *Screen) rows(q *wire.Question, width, height int) (rows []Row) {
	note := func(text string, strong bool) {
		if text != "" {
			for _, r := range linetext.Marked(text, width) {
				rows = append(rows, Row{Text: r, Strong: strong})
			}
		}
	}
	if s.help {
		for _, text := range s.keys(q) {
			note(text, false)
		}
		return rows
	}
	note(s.Notice, false)
	if q == nil {
		return rows
	}
	left := max(0, q.GetExpires().AsTime().Sub(s.Now()))
	switch {
	case call(q) == nil:
		note(fmt.Sprintf("%s asks about %d calls at once; n denies it", q.GetTicket(), len(q.GetCalls())), true)
	case s.trusting:
		for i, text := range trustRows(q, s.trusts(q), left) {
			note(text, i == 0)
		}
	case s.details:
		rows = append(rows, s.detailRows(q, width, height-len(rows))...)
	default:
		rows = append(rows, card(q, width, left, s.choices(q))...)
	}
	if s.placing {
		note(PickText(call(q).GetPick()), false)
		note("Where does it go? "+s.typed+"_ · enter: yes · esc: do not approve", true)
	}
	return rows
}

// detailRows returns a page of all that is known of a call.
func (s *Screen) detailRows(q *wire.Question, width, height int) []Row {
	var all []string
	for _, text := range Details(q) {
		all = append(all, linetext.Marked(text, width)...)
	}
	room := max(1, height-1)
	s.pages.count = (len(all) + room - 1) / room
	s.page = min(s.page, s.pages.count-1)
	part := all[s.page*room : min(len(all), (s.page+1)*room)]
	rows := make([]Row, 0, len(part)+1)
	for i, text := range part {
		rows = append(rows, Row{Text: text, Strong: s.page == 0 && i == 0})
	}
	foot := "d: the card again · y yes · n no · ? all keys"
	if s.page+1 < s.pages.count {
		foot = fmt.Sprintf("page %d of %d · d or space: the next · esc: the card", s.page+1, s.pages.count)
	}
	return append(rows, Row{Text: linetext.Marked(foot, width)[0], Faint: true})
}

// Details returns all that is known of a call, one line each.
func Details(q *wire.Question) (list []string) {
	one := call(q)
	if one == nil {
		return nil
	}
	list = append(list, one.GetWhat(), "Why: "+one.GetWhy())
	if n := one.GetLost(); n > 0 {
		list = append(list, fmt.Sprintf("(!) %d characters of the call are shown nowhere: deny it, and tell the agent to use smaller steps.", n))
	}
	if card := one.GetCard(); len(card) > 1 {
		list = append(list, card[1:]...)
	}
	for _, c := range Choices(q) {
		if c.Verb == "approve" {
			list = append(list, c.Key+": yes to "+c.Effect)
		}
	}
	if one.GetPattern() != "" {
		list = append(list, "Pattern of the wider one: "+one.GetPattern())
	}
	if one.GetPick() != nil {
		list = append(list, PickText(one.GetPick()))
	}
	return append(list, "Question "+q.GetTicket()+", session "+q.GetSession())
}

// PickText says what an approval needs besides a yes.
func PickText(k *wire.Pick) string {
	text := "Say where it goes: " + k.GetWords()
	if k.GetArgument() != "" {
		text = "A text from others says where this goes, so " + k.GetWords()
	}
	if len(k.GetAmong()) > 0 {
		text += ": " + strings.Join(k.GetAmong(), " · ")
	}
	return text
}
