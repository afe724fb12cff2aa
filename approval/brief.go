package approval

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/deeds"
)

// A Brief is one call in two lines: what it would do, and why a person is asked.
type Brief struct {
	// What names the call with its command or with the arguments that matter. Nothing in it is cut.
	// A display that cannot show all of it must say how much is left out and must not accept an
	// approval before all of it was shown.
	What Phrase
	Why  Phrase
	// More says that the details show something that matters and is not in What.
	More bool
	// Lost is how many characters of the call are shown nowhere, not even in the details. Unless it
	// is zero, the call cannot be approved.
	Lost int
}

// isCommand is the catalog's word for a command line.
const isCommand = "command"

// maxBriefArgs is how many arguments the first line names.
const maxBriefArgs = 3

// Brief describes one call of a question in two lines.
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
		if to, _ := q.places(); to >= 0 && slices.Contains(b.What, Part{Text: q.value(to), Foreign: true}) {
			said[to] = true
		}
	}
	rows, left, hides := q.rows(false)
	warned, unshown := q.warnings(), q.unshown()
	b.More = left > 0 || hides || q.Pick != nil || q.hidesPush() || len(warned) > 0 || len(unshown) > 0 || len(q.Beware) > 0
	n := 0
	for _, r := range rows {
		r.args = slices.DeleteFunc(slices.Clone(r.args), func(i int) bool { return said[i] || q.inCommand(i) })
		if len(r.args) == 0 {
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

// inCommand reports whether an argument is an address from the command line, if the card shows that
// line in full.
func (q Question) inCommand(i int) bool {
	c := q.command()
	return c >= 0 && q.whole(c) && q.Action.Arguments[i].Path == floodmark.CommandAddress && q.warning(i) == "" && !q.chosen(i)
}

// warnings returns the warnings about single values, each once.
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

// unshown names the texts and files of a call that no card shows and that are not the owner's own
// words.
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

// command returns the index of the only command line among the arguments, or -1 if there is none or
// more than one.
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
	switch {
	case all && list[0].Push && q.Push.Reviewed() && q.Push.Sent.Branch != "":
		return append(p, q.sends()...).say(": ").quote(q.value(i), maxWhole)
	case all:
		p = p.say(list[0].Verb).pieces(list[0].Rest)
	default:
		p = p.say("run a command that ")
		for n, d := range list {
			if n > 0 {
				p = p.say(" and ")
			}
			p = p.say(d.Verbs).pieces(d.Rest)
		}
	}
	return append(p, q.goesTo(list)...).say(": ").quote(q.value(i), maxWhole)
}

// pieces adds the pieces of a deed, with foreign ones quoted.
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

// inLine names values in the middle of a line: «to “bob@corp.example”».
func (q Question) inLine(r row) Phrase {
	p := q.line(r, maxWhole)
	if len(p) > 0 && !p[0].Foreign {
		p[0].Text = strings.ToLower(p[0].Text[:1]) + p[0].Text[1:]
	}
	return p
}

// why says why a person is asked, in one sentence each: what was read before the call, the reason
// of the decision, and whether the call would run in a box.
func (q Question) why() Phrase {
	p := q.seenThere()
	switch {
	case len(p) > 0:
	case q.Led.known():
		p = q.Led.reading()
	case len(q.reason()) == 0 && q.Source != "":
		p = p.say("It had read: ").quote(q.Source, maxShownValue)
	}
	for _, words := range []Phrase{q.reason(), boxed(q.Box)} {
		if len(words) == 0 {
			continue
		}
		if len(p) > 0 {
			p = p.ended().say(" ")
		}
		p = append(p, words...)
	}
	if len(p) == 0 {
		return p.say("Your rules ask about this.")
	}
	return p.ended()
}

// ended returns the phrase with a full stop at its end.
func (p Phrase) ended() Phrase {
	if last := p[len(p)-1]; !last.Foreign && strings.HasSuffix(last.Text, ".") {
		return p
	}
	return p.say(".")
}

// reason returns the first reason that says more than «something was read». If there is none, it
// says what needs approval after such a read. If the call only reads, it also says that even a read
// can send something out.
func (q Question) reason() Phrase {
	general := ""
	for _, r := range q.Reasons {
		needs, _, rule := strings.Cut(r.Text, " needs your yes")
		if r.Code == floodmark.TaintEscalation && strings.HasPrefix(r.Rule, "table.") && q.Led.known() {
			if rule && general == "" {
				general = "After that, " + needs + " needs your yes"
			}
			continue
		}
		if r.Code == floodmark.OutsideBox || r.Code == floodmark.BoxHost || r.Text == "" {
			continue
		}
		text := floodmark.Shorten(floodmark.Visible(r.Text), maxShownAsked)
		if q.looks() && (r.Code == floodmark.FlowSecret || r.Code == floodmark.FlowPrivate) {
			return spelled("Even a read sends a request out: " + text)
		}
		return spelled(capital(text))
	}
	return spelled(floodmark.Shorten(floodmark.Visible(general), maxShownAsked))
}

// looks reports whether the call only reads.
func (q Question) looks() bool {
	return len(q.Action.Effects) > 0 && slices.Min(q.Action.Effects) >= floodmark.Fetch
}

// seenThere names the least trusted value that matters and says in which read content it was seen.
func (q Question) seenThere() Phrase {
	best := -1
	for i, a := range q.Action.Arguments {
		from := q.note(i).From
		if a.Whence == floodmark.Seen && a.Role != floodmark.Content && from.known() && from.Trust == a.Trust && !q.chosen(i) && q.value(i) != "" &&
			(best < 0 || a.Trust < q.Action.Arguments[best].Trust) {
			best = i
		}
	}
	if best < 0 || q.Action.Arguments[best].Trust >= floodmark.Local {
		return nil
	}
	if a := q.Action.Arguments[best]; q.note(best).Is == isCommand {
		if a.Pieced || !Telling(q.value(best)) {
			return nil // a common command such as «git push» may be in the content by chance
		}
		return append(Phrase{}.say("This very command stands in "), q.note(best).From.words()...)
	}
	return append(Phrase{}.quote(q.value(best), maxShownHead).say(" stands in "), q.note(best).From.words()...)
}

// maxWhole exceeds the length of any value that is shown whole.
const maxWhole = 1 << 20

// hidesPush reports whether the call pushes something that the two lines do not show in full.
func (q Question) hidesPush() bool {
	return q.Push != nil && (q.Push.Reviewed() || q.Push.Unseen != "")
}
