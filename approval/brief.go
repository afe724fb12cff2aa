package approval

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/deeds"
)

// A Brief is one call in two lines: what it would do, and why a person is asked.
type Brief struct {
	// What names the deed with the real command, or with the arguments that matter.
	// Nothing in it is cut: whoever has less room says how much is left out, and takes
	// no yes until all of it was shown.
	What Phrase
	Why  Phrase
	// More says that the details show something that matters and is not in What.
	More bool
	// Lost is how many characters of the call are shown nowhere, also not in the details.
	// Nobody says yes to these.
	Lost int
}

// isCommand is the catalog's word for a command line.
const isCommand = "command"

// maxBriefArgs is how many arguments stand in the first line.
const maxBriefArgs = 3

// Brief words one call of a question.
func (q Question) Brief() Brief {
	if q.Vouch != (Origin{}) {
		c := q.vouchCard()
		return Brief{What: append(Head([]Question{q}).say(": "), c.Body[0]...), Why: Phrase{}.say(VouchConsequence)}
	}
	q = q.unpicked()
	b := Brief{Lost: q.lost()}
	said := map[int]bool{}
	if i := q.command(); i >= 0 {
		b.What, said[i] = q.runs(i), true
	} else {
		b.What = Head([]Question{q})
		if !slices.ContainsFunc(b.What, func(p Part) bool { return p.Foreign && p.Text == inWords(q.Action.Tool.Name) }) {
			b.What = b.What.say(" with ").quote(inWords(q.Action.Tool.Name), maxShownName)
		}
	}
	rows, left, hides := q.rows(false)
	warned, unshown := q.warnings(), q.unshown()
	b.More = left > 0 || hides || q.Pick != nil || q.hidesPush() || len(warned) > 0 || len(unshown) > 0 || len(q.Beware) > 0
	n := 0
	for _, r := range rows {
		if len(r.args) == 1 && said[r.args[0]] {
			continue
		}
		if n++; n > maxBriefArgs {
			b.More = true
			break
		}
		b.What = append(b.What.say(", "), q.inLine(r)...)
	}
	b.Why = append(append(warned, q.why()...), unshown...)
	return b
}

// warnings are what has to be said of single values, each once.
func (q Question) warnings() (p Phrase) {
	var said []string
	for i := range q.Action.Arguments {
		if w := q.warning(i); w != "" && !q.note(i).Empty && !slices.Contains(said, w) {
			said = append(said, w)
			p = p.say("(!) " + capital(w) + ". ")
		}
	}
	return p
}

// unshown names the texts and files that go with a call, stand on no card, and are not
// the owner's own words.
func (q Question) unshown() (p Phrase) {
	var said []string
	for i, a := range q.Action.Arguments {
		name := q.name(i)
		if a.Role != floodmark.Content || a.Shown != "" || a.Whence == floodmark.Stated || q.note(i).Empty || slices.Contains(said, name.one) {
			continue
		}
		if said = append(said, name.one); len(said) > maxBriefArgs {
			return p.say(" and more.")
		}
		p = p.say(map[bool]string{true: " Not shown: ", false: ", "}[len(said) == 1])
		if name.foreign {
			p = p.quote(name.one, maxShownName)
		} else {
			p = p.say(floodmark.Shorten(floodmark.Visible(name.one), maxShownName))
		}
	}
	if len(p) > 0 {
		p = p.say(".")
	}
	return p
}

// command is the argument that is a command line, as the catalog says; below zero if
// there is none, or not one alone.
func (q Question) command() int {
	found := -1
	for i := range q.Action.Arguments {
		if q.note(i).Is == isCommand && q.value(i) != "" {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// runs says what a command line does, and then the line itself.
func (q Question) runs(i int) Phrase {
	p := asker(q.Action.Tool.Agent).say(" wants to ")
	list, all := deeds.Of(q.value(i))
	if len(list) == 0 || !q.whole(i) {
		return p.say("run: ").quote(q.value(i), maxWhole)
	}
	if all {
		p = p.say(list[0].Verb).pieces(list[0].Rest)
	} else {
		p = p.say("run a command that ")
		for n, d := range list {
			if n > 0 {
				p = p.say(" and ")
			}
			p = p.say(d.Verbs).pieces(d.Rest)
		}
	}
	return p.say(": ").quote(q.value(i), maxWhole)
}

// pieces adds what a line does.
func (p Phrase) pieces(list []deeds.Piece) Phrase {
	for _, one := range list {
		if one.Foreign {
			p = p.quote(one.Text, maxShownName)
		} else {
			p = p.say(one.Text)
		}
	}
	return p
}

// inLine names values within a line: «to “bob@corp.example”».
func (q Question) inLine(r row) Phrase {
	p := q.line(r, maxWhole)
	if len(p) > 0 && !p[0].Foreign {
		p[0].Text = strings.ToLower(p[0].Text[:1]) + p[0].Text[1:]
	}
	return p
}

// why says why a person is asked, and names what was read before it.
func (q Question) why() Phrase {
	p := Phrase{}
	reason := q.reason()
	seen := q.seenThere()
	switch {
	case len(seen) > 0:
		p = append(p, seen...)
	case q.Led.known():
		p = append(p.say("It had read "), q.Led.words()...)
	case reason == "" && q.Source != "":
		p = p.say("It had read: ").quote(q.Source, maxShownValue)
	}
	if reason != "" {
		if len(p) > 0 && (len(seen) > 0 || q.Led.known()) {
			p = p.say(", and ")
		} else {
			reason = capital(reason)
		}
		p = append(p, spelled(reason)...)
	}
	if q.Box != "" {
		if len(p) > 0 {
			p = p.say(". ")
		}
		p = append(p, boxed(q.Box)...)
	}
	if len(p) == 0 {
		return p.say("Your rules ask about this.")
	}
	if last := p[len(p)-1]; !last.Foreign && strings.HasSuffix(last.Text, ".") {
		return p
	}
	return p.say(".")
}

// reason is the first reason that says more than that something was read.
func (q Question) reason() string {
	for _, r := range q.Reasons {
		general := r.Code == floodmark.TaintEscalation && strings.HasPrefix(r.Rule, "table.") && q.Led.known()
		if !general && r.Code != floodmark.OutsideBox && r.Code != floodmark.BoxHost && r.Text != "" {
			return floodmark.Shorten(floodmark.Visible(r.Text), maxShownAsked)
		}
	}
	return ""
}

// seenThere names the value that matters most if it came from something that was read.
func (q Question) seenThere() Phrase {
	best := -1
	for i, a := range q.Action.Arguments {
		from := q.note(i).From
		if a.Whence == floodmark.Seen && a.Role != floodmark.Content && from.known() && from.Trust == a.Trust && !q.chosen(i) && q.value(i) != "" &&
			(best < 0 || a.Trust < q.Action.Arguments[best].Trust) {
			best = i
		}
	}
	if best < 0 || q.Action.Arguments[best].Trust >= floodmark.Local || q.note(best).Is == isCommand {
		return nil
	}
	return append(Phrase{}.quote(q.value(best), maxShownHead).say(" stands in "), q.note(best).From.words()...)
}

// maxWhole is more than any value has that is shown whole.
const maxWhole = 1 << 20

// hidesPush reports a push that is shown in part, or not at all.
func (q Question) hidesPush() bool {
	return q.Push != nil && (q.Push.Reviewed() || q.Push.Unseen != "")
}
