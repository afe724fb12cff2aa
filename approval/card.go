package approval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// What fits on a phone's screen at once, in characters and in values.
const (
	maxShownValue = 160
	maxShownCall  = 1200 // of all values of a call that is shown alone
	maxShownName  = 60
	maxShownAsked = 280 // of the owner's own words
	maxShownHead  = 40  // of a place in the first line, and of what the catalog says
	maxShownRows  = 6
	maxShownList  = 6 // of one row
	briefRows     = 2 // of each call, if there are several
)

// A Card is a question in the words a person reads, the same in every channel. It names what the
// agent wants, where each value that matters came from, and what an approval does. What it leaves
// out it counts.
type Card struct {
	// Deed says what the call does, after «wants to».
	Deed Phrase
	// Asked is how the owner's last message begins; empty if unknown.
	Asked Phrase
	// Body is the rest, one line each. A line that begins with spaces belongs to
	// the one above it.
	Body []Phrase
	// Hides says that a value that matters and that the owner did not state is left out: the card
	// cannot be approved.
	Hides bool
}

// A Note says more about an argument than the fact records.
type Note struct {
	// Is names what the value stands for, in the catalog's words.
	Is string
	// Goes says that it is a destination, Cut that it is not shown whole, Empty that it is empty.
	Goes, Cut, Empty bool
	// From is where it was first seen.
	From Origin
}

// An Origin names something that was read, as a person would. The zero Origin is unknown.
type Origin struct {
	// Name is the tool that read it, Place where it lies; one may be empty.
	Name, Place string
	// Said is the beginning of the command line that read it, and more telling than both.
	Said  string
	Trust floodmark.Trust
	// Earlier says that an earlier session read it and left files that are used here.
	Earlier bool
	// Ran says that it is the output of a local program, not a foreign text.
	Ran bool
}

// Card words one call of a question. A brief card is one of several.
func (q Question) Card(brief bool) Card {
	room := maxShownValue
	if brief {
		room /= 2
	} else if q.short() {
		room = maxShownCall
	}
	return q.card(brief, room)
}

// card words a call with so many characters for each value.
func (q Question) card(brief bool, room int) Card {
	if q.Vouch != (Origin{}) {
		return q.vouchCard()
	}
	q = q.unpicked()
	c := Card{Deed: q.deed()}
	if q.Asked != "" {
		c.Asked = Phrase{}.say("You had said: ").quote(q.Asked, maxShownAsked)
	}
	named := slices.Contains(c.Deed, Part{Text: inWords(q.Action.Tool.Name), Foreign: true})
	if !named || q.Action.Tool.Server != "" || q.About != "" {
		c.Body = append(c.Body, q.with())
	}
	rows, left, hides := q.rows(brief)
	c.Hides = hides || q.lost() > 0 || q.longer(rows, room)
	c.Body = append(c.Body, q.lines(rows, room)...)
	if left > 0 {
		c.Body = append(c.Body, Phrase{}.say(fmt.Sprintf("(%d more not shown here)", left)))
	}
	if i := q.text(); i >= 0 {
		c.Body = append(c.Body, q.textLine(i, rows))
	}
	if p := q.led(); len(p) > 0 && (!q.Led.known() || !q.named(rows)) {
		c.Body = append(c.Body, p)
	}
	for _, b := range q.Beware {
		c.Body = append(c.Body, Phrase{}.say("(!) "+b))
	}
	if q.Box != "" {
		c.Body = append(c.Body, boxed(q.Box))
	}
	if q.Push != nil {
		lines, whole := q.pushed()
		c.Body, c.Hides = append(c.Body, lines...), c.Hides || !whole
	}
	if q.Consequence != "" || len(q.Action.Effects) > 0 {
		c.Body = append(c.Body, append(Phrase{}.say("After a yes: "), q.consequence(false)...))
	}
	return c
}

// VouchConsequence is what happens after content is approved.
const VouchConsequence = "It counts as a file of your own, in every session: the agent may do more after having read it. If you did not type this, deny."

// vouchCard words a question that is about content, not about a call.
func (q Question) vouchCard() Card {
	c := Card{Deed: Phrase{}.say("have something believed")}
	c.Body = append(c.Body, Phrase{}.say("It is: ").quote(strings.TrimSpace(q.Vouch.Name+" "+q.Vouch.Place), maxShownValue).say(" ("+q.Vouch.Trust.String()+")"))
	c.Body = append(c.Body, Phrase{}.say("If you allow it: "+VouchConsequence))
	return c
}

// Head says in one line who wants what.
func Head(calls []Question) Phrase {
	agent := asker("")
	if len(calls) > 0 {
		agent = asker(calls[0].Action.Tool.Agent)
	}
	if len(calls) == 1 && calls[0].Vouch != (Origin{}) {
		return Phrase{}.say("You typed that you vouch for something your agent has read")
	}
	switch len(calls) {
	case 0:
		return agent.say(" asks")
	case 1:
		return append(agent.say(" wants to "), calls[0].unpicked().deed()...)
	}
	return agent.say(fmt.Sprintf(" wants to do %d things", len(calls)))
}

// asker names the agent that asks.
func asker(name string) Phrase {
	switch {
	case name == "":
		return Phrase{}.say("An agent")
	case len(name) > maxShownName || strings.ContainsFunc(name, odd):
		return Phrase{}.quote(name, maxShownName)
	}
	return Phrase{}.say(name)
}

// odd reports a character that the name of an agent does not need.
func odd(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_.", r)
}

// Lines is a card of one call as plain text.
func (q Question) Lines() []string {
	c := q.card(false, maxWhole)
	lines := []string{Head([]Question{q}).String()}
	if len(c.Asked) > 0 {
		lines = append(lines, c.Asked.String())
	}
	for _, p := range c.Body {
		lines = append(lines, p.String())
	}
	if _, whole := q.pushed(); !whole {
		lines = append(lines, q.Push.Body...)
	}
	return lines
}

// Told is a card of one call as plain text, for channels without buttons: its two lines, the
// owner's request, and the details.
func (q Question) Told() []string {
	b := q.Brief()
	return append([]string{b.What.String(), "Why: " + b.Why.String()}, q.Lines()[1:]...)
}

// Text is a card of one call as plain text of limited length, for a chat. The owner's request is
// dropped first; if more has to be left out, it says so.
func (q Question) Text(most int) string {
	const more = "(not all of it fits here: «floodmark approve» shows it)"
	lines, first := q.Told(), 2
	if utf8.RuneCountInString(lines[0]+lines[1]+more)+first > most { // a long command: at least say what it does
		lines, first = q.Lines(), 1
	}
	fits := func() bool { return utf8.RuneCountInString(strings.Join(lines, "\n")) <= most }
	if !fits() && q.Asked != "" {
		lines = slices.Delete(lines, first, first+1)
	}
	if fits() {
		return strings.Join(lines, "\n")
	}
	for lines = append(lines, more); len(lines) > first+1 && !fits(); {
		lines = slices.Delete(lines, len(lines)-2, len(lines)-1)
	}
	if !fits() {
		return floodmark.Shorten(more, max(0, most))
	}
	return strings.Join(lines, "\n")
}

// with names the tool.
func (q Question) with() Phrase {
	p := Phrase{}.say("With ").quote(inWords(q.Action.Tool.Name), maxShownName)
	if q.Action.Tool.Server != "" {
		p = p.say(" of ").quote(q.Action.Tool.Server, maxShownName)
	}
	switch {
	case q.Unknown:
		return p.say(" (nobody has described it)")
	case q.About != "":
		return p.say(" (" + briefly(q.About) + ")")
	}
	return p
}

// briefly is the first clause of a description, as far as it fits.
func briefly(about string) string {
	about, _, _ = strings.Cut(floodmark.Visible(about), ";")
	words := strings.Fields(about)
	text := ""
	for i, w := range words {
		if len(text)+1+len(w) > maxShownHead {
			return text + " …"
		}
		if i > 0 {
			text += " "
		}
		text += w
	}
	return text
}

// note returns what else is known of an argument.
func (q Question) note(i int) Note {
	if i < len(q.Notes) {
		return q.Notes[i]
	}
	return Note{From: Origin{Trust: q.Action.Arguments[i].Trust}}
}

// named reports whether the lines of a card already name what led to the call, or something trusted
// as little.
func (q Question) named(rows []row) bool {
	says := func(i int) bool {
		a, from := q.Action.Arguments[i], q.note(i).From
		return a.Whence == floodmark.Seen && from.known() && from.Trust == a.Trust && from.Trust <= q.Led.Trust
	}
	if i := q.text(); i >= 0 && says(i) {
		return true
	}
	return slices.ContainsFunc(rows, func(r row) bool { return says(r.args[0]) })
}

// unpicked hides the value to choose everywhere else in the question, so that a person has to know
// it.
func (q Question) unpicked() Question {
	if q.Pick == nil || len(q.Pick.Among) == 0 {
		return q
	}
	hide := func(text string) string {
		for _, value := range q.Pick.Among {
			if value != "" {
				text = strings.ReplaceAll(text, value, "(see below)")
			}
		}
		return text
	}
	q.Source, q.Consequence, q.Line = hide(q.Source), hide(q.Consequence), hide(q.Line)
	q.Led.Name, q.Led.Place = hide(q.Led.Name), hide(q.Led.Place)
	q.Action.Arguments, q.Notes = slices.Clone(q.Action.Arguments), slices.Clone(q.Notes)
	q.Whole = slices.Clone(q.Whole)
	for i := range q.Action.Arguments {
		q.Action.Arguments[i].Shown = hide(q.Action.Arguments[i].Shown)
	}
	for i := range q.Whole {
		q.Whole[i].Text = hide(q.Whole[i].Text)
	}
	for i := range q.Notes {
		q.Notes[i].From.Name, q.Notes[i].From.Place = hide(q.Notes[i].From.Name), hide(q.Notes[i].From.Place)
	}
	return q
}

// chosen reports an argument that is chosen below the card.
func (q Question) chosen(i int) bool {
	return q.Pick != nil && len(q.Pick.Among) > 0 && q.Pick.Argument == q.Action.Arguments[i].Path
}

// short reports a call whose values can all be shown in a chat.
func (q Question) short() bool {
	n := 0
	for i := range q.Action.Arguments {
		n += utf8.RuneCountInString(floodmark.Visible(q.value(i)))
	}
	return n <= maxShownCall
}

// longer reports a value that matters and does not fit: an approval covers what was shown.
func (q Question) longer(rows []row, room int) bool {
	for _, r := range rows {
		for _, i := range r.args {
			if a := q.Action.Arguments[i]; a.Role != floodmark.Content && a.Whence != floodmark.Stated && utf8.RuneCountInString(floodmark.Visible(q.value(i))) > room {
				return true
			}
		}
	}
	return false
}

// A row is one line of a card: values of one argument, with the same origin.
type row struct {
	args []int
	more int // of the same list that are left out
}

// rows are the values to show: destinations first, then the least trusted. It counts those that are
// left out, and says whether one of them matters.
func (q Question) rows(brief bool) (list []row, left int, hides bool) {
	args := q.Action.Arguments
	var all []int
	for i, a := range args {
		if !(a.Shown == "" && a.Role == floodmark.Content) && !q.note(i).Empty && !q.within(i) {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, q.worse)
	most, each := maxShownRows, maxShownList
	if brief {
		most, each = briefRows, briefRows
	}
	for _, i := range all {
		at := slices.IndexFunc(list, func(r row) bool { return q.alike(r.args[0], i) })
		switch {
		case at < 0 && len(list) < most:
			list = append(list, row{args: []int{i}})
			continue
		case at >= 0 && len(list[at].args) < each:
			list[at].args = append(list[at].args, i)
			continue
		case at >= 0:
			list[at].more++
		default:
			left++
		}
		hides = hides || args[i].Role != floodmark.Content && args[i].Whence != floodmark.Stated
	}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(first(q.goes(a.args[0])), first(q.goes(b.args[0]))) })
	return list, left, hides
}

// within reports an address in a command line that is shown whole, if nothing else is known of the
// address.
func (q Question) within(i int) bool {
	a := q.Action.Arguments[i]
	return a.Path == urlOfCommand && a.Whence == floodmark.Nowhere && slices.ContainsFunc(q.Action.Arguments[:i], func(b floodmark.Argument) bool {
		return b.Path != urlOfCommand && a.Shown != "" && strings.Contains(b.Shown, a.Shown)
	})
}

// goes reports an argument that is a destination.
func (q Question) goes(i int) bool { return q.note(i).Goes || q.chosen(i) }

// worse orders arguments by how much they need a person's attention.
func (q Question) worse(a, b int) int {
	x, y := q.Action.Arguments[a], q.Action.Arguments[b]
	picked := func(arg floodmark.Argument) bool { return q.Pick != nil && q.Pick.Argument == arg.Path }
	return cmp.Or(
		cmp.Compare(first(picked(x)), first(picked(y))),
		cmp.Compare(first(x.Role != floodmark.Content), first(y.Role != floodmark.Content)),
		cmp.Compare(first(x.Whence != floodmark.Stated), first(y.Whence != floodmark.Stated)),
		cmp.Compare(first(x.Whence == floodmark.Seen), first(y.Whence == floodmark.Seen)),
		cmp.Compare(x.Trust, y.Trust),
	)
}

func first(yes bool) int {
	if yes {
		return 0
	}
	return 1
}

// alike reports whether two values can share a line: they are of one list, came from the same
// place, and neither has a warning.
func (q Question) alike(a, b int) bool {
	plain := func(i int) bool { return q.warning(i) == "" && q.Action.Arguments[i].Shown != "" && !q.chosen(i) }
	return q.name(a).list == q.name(b).list && q.origin(a).String() == q.origin(b).String() && plain(a) && plain(b)
}

func (q Question) name(i int) named {
	a := q.Action.Arguments[i]
	return nameOf(a.Path, a.Role != floodmark.Undeclared)
}
