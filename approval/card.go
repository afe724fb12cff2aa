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

// How many characters and values fit on a phone's screen at once.
const (
	maxShownValue = 160
	maxShownCall  = 1200 // all values of a call that is shown alone
	maxShownName  = 60
	maxShownAsked = 280 // the owner's own words
	maxShownHead  = 40  // a place in the first line, and the catalog's description
	maxShownRows  = 6
	maxShownList  = 6 // values in one row
	briefRows     = 2 // rows of each call, if there are several
)

// A Card is a question as a person reads it, the same in every channel. It names what the agent
// wants, where each value that matters came from, and what an approval does. It says how many
// values it leaves out.
type Card struct {
	// Deed says what the call does, after «wants to».
	Deed Phrase
	// Asked is the beginning of the owner's last message; empty if unknown.
	Asked Phrase
	// Body are the further lines. A line that begins with spaces belongs to the line above it.
	Body []Phrase
	// Hides says that the card does not show everything that matters, so that it cannot be
	// approved.
	Hides bool
}

// A Note says more about an argument than the fact records.
type Note struct {
	// Is is the catalog's word for the kind of value.
	Is string
	// Goes says that the value is a destination, Cut that it is not shown in full, and Empty that
	// it is empty.
	Goes, Cut, Empty bool
	// From is where the value was first seen.
	From Origin
}

// An Origin names something that was read, as a person would. The zero Origin is unknown.
type Origin struct {
	// Name is the tool that read the content, and Place is where the content is stored. Either may
	// be empty.
	Name, Place string
	// Said is the beginning of the command line that read the content. If set, it is named instead
	// of Name and Place.
	Said  string
	Trust floodmark.Trust
	// Earlier says that an earlier session read the content and left files that are used here.
	Earlier bool
	// Ran says that the content is the output of a local program, not a foreign text.
	Ran bool
}

// Card describes one call of a question. A brief card is for a question with several calls.
func (q Question) Card(brief bool) Card {
	room := maxShownValue
	if brief {
		room /= 2
	} else if q.short() {
		room = maxShownCall
	}
	return q.card(brief, room)
}

// card describes a call with at most room characters for each value.
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

// vouchCard describes a question that is about content, not about a call.
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

// asker returns the name of the agent that asks, quoted if it has unusual characters.
func asker(name string) Phrase {
	switch {
	case name == "":
		return Phrase{}.say("An agent")
	case len(name) > maxShownName || strings.ContainsFunc(name, odd):
		return Phrase{}.quote(name, maxShownName)
	}
	return Phrase{}.say(name)
}

// odd reports whether a character is unusual in the name of an agent.
func odd(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" -_.", r)
}

// Lines returns the full card of one call as plain text.
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

// Told returns the card of one call as plain text, for channels without buttons. It begins with the
// two lines of [Question.Brief], followed by the owner's request and the details.
func (q Question) Told() []string {
	b := q.Brief()
	return append([]string{b.What.String(), "Why: " + b.Why.String()}, q.Lines()[1:]...)
}

// Text returns the card of one call as plain text of limited length, for a chat. If it is too long,
// the owner's request is dropped first. If more is left out, the text says so.
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

// with returns the line that names the tool.
func (q Question) with() Phrase {
	p := Phrase{}.say("With ").quote(inWords(q.Action.Tool.Name), maxShownName)
	if q.Action.Tool.Server != "" {
		p = p.say(" of ").quote(q.Action.Tool.Server, maxShownName)
	}
	switch {
	case q.Unknown:
		return p.say(" (it is not described)")
	case q.About != "":
		return p.say(" (" + briefly(q.About) + ")")
	}
	return p
}

// briefly returns the first clause of a description, as far as it fits.
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

// named reports whether the lines of a card already name the content that led to the call, or
// content that is trusted no more.
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

// unpicked replaces the values to choose from everywhere else in the question, so that a person
// cannot copy the right one from it.
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

// chosen reports whether a person chooses the value of an argument below the card.
func (q Question) chosen(i int) bool {
	return q.Pick != nil && len(q.Pick.Among) > 0 && q.Pick.Argument == q.Action.Arguments[i].Path
}

// short reports whether all values of the call can be shown in a chat.
func (q Question) short() bool {
	n := 0
	for i := range q.Action.Arguments {
		n += utf8.RuneCountInString(floodmark.Visible(q.value(i)))
	}
	return n <= maxShownCall
}

// longer reports whether a value that matters and that the owner did not state is longer than room.
// Such a card cannot be approved, because an approval covers only what was shown.
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

// A row is one line of a card: values of one argument or list, with the same origin.
type row struct {
	args []int
	more int // how many values of the same list are left out
}

// rows returns the values to show, destinations first and then the least trusted. Left is how many
// values in other rows are left out. Hides says whether any value that is left out matters and was
// not stated by the owner.
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

// within reports whether an argument is an address from a command line that contains it, and
// nothing else is known of that address.
func (q Question) within(i int) bool {
	a := q.Action.Arguments[i]
	return a.Path == floodmark.CommandAddress && a.Whence == floodmark.Nowhere && slices.ContainsFunc(q.Action.Arguments[:i], func(b floodmark.Argument) bool {
		return b.Path != floodmark.CommandAddress && a.Shown != "" && strings.Contains(b.Shown, a.Shown)
	})
}

// goes reports whether an argument is a destination.
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

// alike reports whether two values can share a line, because they are in one list, came from the
// same place, and have no warning.
func (q Question) alike(a, b int) bool {
	plain := func(i int) bool { return q.warning(i) == "" && q.Action.Arguments[i].Shown != "" && !q.chosen(i) }
	return q.name(a).list == q.name(b).list && q.origin(a).String() == q.origin(b).String() && plain(a) && plain(b)
}

func (q Question) name(i int) named {
	a := q.Action.Arguments[i]
	return nameOf(a.Path, a.Role != floodmark.Undeclared)
}
