package approval

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// lines returns the values of a call, each with its origin. Consecutive lines with the same origin
// have one line for it below them.
func (q Question) lines(rows []row, most int) []Phrase {
	var list []Phrase
	same := 1
	for n, r := range rows {
		p, note := q.line(r, most), q.origin(r.args[0])
		if q.Action.Arguments[r.args[0]].Whence != floodmark.Seen { // short enough for the same line
			p = append(p.say(" ("), append(note, Part{Text: ")"})...)
			note = nil
		}
		list = append(list, p)
		if w := q.warning(r.args[0]); w != "" {
			list = append(list, Phrase{}.say("   (!) "+w))
		}
		if note == nil {
			continue
		}
		if n+1 < len(rows) && note.String() == q.origin(rows[n+1].args[0]).String() {
			same++
			continue
		}
		under := Phrase{}.say("   ")
		switch {
		case same == 2:
			under = under.say("both ")
		case same > 2:
			under = under.say("all ")
		}
		list, same = append(list, append(under, note...)), 1
	}
	return list
}

// line returns the line for a row of values: «3 recipients: a, b and 1 more».
func (q Question) line(r row, most int) Phrase {
	name := q.name(r.args[0])
	words := capital(name.one)
	if count := len(r.args) + r.more; count > 1 {
		words = fmt.Sprintf("%d %s", count, name.many)
	}
	var p Phrase
	if name.foreign {
		p = p.quote(words, maxShownName)
	} else {
		p = p.say(floodmark.Shorten(floodmark.Visible(words), maxShownName))
	}
	p = p.say(": ")
	if q.equal(r) {
		return p.say("each ").quote(q.value(r.args[0]), most)
	}
	for n, i := range r.args {
		switch {
		case n > 0 && n == len(r.args)-1 && r.more == 0:
			p = p.say(" and ")
		case n > 0:
			p = p.say(", ")
		}
		switch shown := q.value(i); {
		case q.chosen(i):
			p = p.say("one of those below")
		case shown == "":
			p = p.say("not shown, it may be a secret")
		default:
			p = p.quote(shown, most)
		}
	}
	if r.more > 0 {
		p = p.say(fmt.Sprintf(" and %d more", r.more))
	}
	return p
}

// equal reports whether a row has several values that are all the same.
func (q Question) equal(r row) bool {
	other := func(i int) bool { return q.value(i) != q.value(r.args[0]) }
	return len(r.args) > 1 && r.more == 0 && !slices.ContainsFunc(r.args, other)
}

// warning returns a warning about one value; empty if there is none.
func (q Question) warning(i int) string {
	switch a := q.Action.Arguments[i]; {
	case floodmark.LooksAlike(q.value(i)):
		return "has look-alike letters of another alphabet"
	case q.wholeAt(i) >= 0 && !q.whole(i):
		return fmt.Sprintf("%d characters of it are shown nowhere: deny it, and tell the agent to use smaller steps", q.Whole[q.wholeAt(i)].Left)
	case a.Shown != "" && q.wholeAt(i) < 0 && (strings.Contains(a.Shown, "…") || q.note(i).Cut):
		return "not all of it is shown"
	}
	return ""
}

// origin says where a value came from.
func (q Question) origin(i int) Phrase {
	a, from := q.Action.Arguments[i], q.note(i).From
	switch a.Whence {
	case floodmark.Stated:
		return Phrase{}.say("your own words")
	case floodmark.Seen:
		p := Phrase{}.say("from ")
		if a.Pieced {
			p = Phrase{}.say("from parts of ")
		}
		switch {
		case !from.known() && a.Trust >= floodmark.Local:
			return p.say("what it read of yours")
		case !from.known() || from.Trust != a.Trust:
			return p.say("what it read, not from you")
		}
		return append(p, from.words()...)
	case floodmark.Nowhere:
	}
	return Phrase{}.say("worked out by the agent")
}

func (o Origin) known() bool { return o.Name != "" || o.Place != "" }

// reading says how an origin was read.
func (o Origin) reading() Phrase {
	p := Phrase{}.say(map[bool]string{true: "An earlier session ", false: "It "}[o.Earlier])
	if o.Said == "" {
		return append(p.say("had read "), o.words()...)
	}
	verb := map[bool]string{true: "had run ", false: "had read "}[o.Ran]
	return p.say(verb).quote(o.Said, maxShownName).say(o.writers(" (written by others)"))
}

// String returns an origin as a card names it; empty if unknown.
func (o Origin) String() string {
	if !o.known() {
		return ""
	}
	return o.words().String()
}

// words names an origin and says who can have written there.
func (o Origin) words() Phrase {
	p, others := Phrase{}.quote(o.Place, maxShownName), " (written by others)"
	if o.Said != "" {
		p = Phrase{}.say("the output of ").quote(o.Said, maxShownName)
	} else if o.Place == "" {
		p, others = Phrase{}.quote(inWords(o.Name), maxShownName), " (others write there)"
	}
	return p.say(o.writers(others))
}

// writers says who can have written the content of an origin. The text others is used for External.
func (o Origin) writers(others string) string {
	switch {
	case o.Ran:
		return " (its output may hold anybody's words)"
	case o.Trust == floodmark.Untrusted:
		return " (anyone can write there)"
	case o.Trust == floodmark.External:
		return others
	case o.Trust == floodmark.Shared:
		return " (shared with others)"
	}
	return " (your own)"
}

// text returns the index of the argument with the text of the call, or -1 if there is none. If
// there are several, it returns the one that needs most attention.
func (q Question) text() int {
	worst := -1
	for i, a := range q.Action.Arguments {
		n := q.note(i)
		if a.Role != floodmark.Content || a.Shown != "" || n.Empty || n.Is != "" && n.Is != isText || i >= len(q.Notes) {
			continue
		}
		if worst < 0 || q.worse(i, worst) < 0 {
			worst = i
		}
	}
	return worst
}

// textLine says where the text of a call comes from. The text itself is on no card.
func (q Question) textLine(i int, rows []row) Phrase {
	p := Phrase{}.say("Text (not shown): ")
	a, from := q.Action.Arguments[i], q.note(i).From
	elsewhere := func(r row) bool {
		b := q.Action.Arguments[r.args[0]]
		return b.Whence == floodmark.Seen && (q.note(r.args[0]).From != from || b.Trust != from.Trust)
	}
	seen := func(r row) bool { return q.Action.Arguments[r.args[0]].Whence == floodmark.Seen }
	switch {
	case a.Whence == floodmark.Nowhere:
		return p.say("written by the agent")
	case a.Whence == floodmark.Seen && from.known() && from.Trust == a.Trust && slices.ContainsFunc(rows, seen) && !slices.ContainsFunc(rows, elsewhere):
		return p.say("from the same place")
	}
	return append(p, q.origin(i)...)
}

// The catalog's words for a text and for a sum of money.
const (
	isText   = "text"
	isAmount = "amount"
)

// led says what led to the call.
func (q Question) led() Phrase {
	switch {
	case q.Led.known():
		return q.Led.reading()
	case q.Source != "":
		return Phrase{}.say("It had read: ").quote(q.Source, maxShownValue)
	case q.Consequence == "" && q.Line != "":
		return Phrase{}.quote(q.Line, maxShownValue)
	}
	return nil
}

// SourceWords says who wrote the content that led to the call.
func (q Question) SourceWords() string {
	if !q.Led.known() {
		return "the agent itself"
	}
	return q.Led.words().String()
}

// ConsequenceWords says what happens after an approval. It names the first recipient and counts the
// others.
func (q Question) ConsequenceWords() string { return capital(q.consequence(true).String()) }

// places returns the argument with the first destination of a call, and how many more there are.
func (q Question) places() (to, more int) {
	to = -1
	for i, a := range q.Action.Arguments {
		n := q.note(i)
		switch {
		case !n.Goes || n.Empty:
		case a.Shown != "" && to < 0:
			to = i
		case a.Role == floodmark.Undeclared && !strings.Contains(a.Shown, "@") && !strings.Contains(a.Shown, "://"):
		case a.Shown != "" || n.Cut:
			more++
		}
	}
	return to, more
}

// to names where a call goes, after a verb.
func (q Question) to(most int) Phrase {
	to, more := q.places()
	var p Phrase
	switch {
	case to < 0:
		return nil
	case q.chosen(to):
		p = p.say(" to a place you did not name")
	default:
		p = p.say(" to ").quote(q.Action.Arguments[to].Shown, most)
	}
	if more > 0 {
		p = p.say(fmt.Sprintf(" and %d more", more))
	}
	return p
}

// deed says what a call does, by its most guarded effect.
func (q Question) deed() Phrase {
	p := Phrase{}
	if q.Unknown || len(q.Action.Effects) == 0 {
		return p.say("use a tool that is not described")
	}
	switch slices.Min(q.Action.Effects) {
	case floodmark.Admin:
		return p.say("change what it may do or obey")
	case floodmark.Run:
		return p.say("run a program")
	case floodmark.Send:
		sum := q.sum()
		switch to := q.to(maxShownHead); {
		case q.Pays && sum != "":
			return append(p.say("pay ").quote(sum, maxShownHead), to...)
		case q.telling():
			return append(p.quote(inWords(q.Action.Tool.Name), maxShownHead).say(", which goes out"), to...)
		case q.Pays:
			return append(p.say("make or change a payment"), to...)
		case len(to) > 0:
			return append(p.say("send something"), to...)
		}
		return p.say("send something to others")
	case floodmark.Change:
		if q.telling() {
			return p.quote(inWords(q.Action.Tool.Name), maxShownHead)
		}
		return p.say("create, change or delete something")
	case floodmark.Write:
		if q.telling() {
			return p.quote(inWords(q.Action.Tool.Name), maxShownHead)
		}
		return p.say("write a file or note")
	case floodmark.Fetch:
		if to, _ := q.places(); to >= 0 && !q.chosen(to) {
			return p.say("fetch something from ").quote(q.Action.Arguments[to].Shown, maxShownHead)
		}
		return p.say("fetch something from the internet")
	case floodmark.Observe:
	}
	return p.say("look something up")
}

// telling reports whether the tool is described and has a name of several words, which says what it
// does: «delete_file».
func (q Question) telling() bool {
	return len(q.Notes) > 0 && strings.Contains(inWords(q.Action.Tool.Name), " ") && utf8.RuneCountInString(q.Action.Tool.Name) <= maxShownHead
}

// sum returns how much is paid.
func (q Question) sum() string {
	var sums []string
	for i, a := range q.Action.Arguments {
		if q.note(i).Is == isAmount && a.Shown != "" {
			sums = append(sums, a.Shown)
		}
	}
	return strings.Join(sums, " ")
}

// consequence says what happens after an approval. If named, it includes the destination.
func (q Question) consequence(named bool) Phrase {
	p := Phrase{}
	if len(q.Offers) > 0 && q.Offers[0].Scope == floodmark.GrantOutside {
		return p.say("it runs once more, outside the box, with your rights.")
	}
	if q.Unknown || len(q.Action.Effects) == 0 {
		return p.say("nobody has said what this does: it can be anything.")
	}
	switch slices.Min(q.Action.Effects) {
	case floodmark.Admin:
		return p.say("it changes the agent itself, what it obeys, or this monitor.")
	case floodmark.Run:
		return p.say("code runs on your machine with your rights.")
	case floodmark.Send:
		to := q.to(maxShownValue)
		switch {
		case q.Pays && q.sum() == "":
			return p.say("a payment is made or changed.")
		case q.Pays && named:
			return append(p.say("the money goes out"), append(to, Part{Text: " and cannot be called back."})...)
		case q.Pays:
			return p.say("the money goes out and cannot be called back.")
		case named && len(to) > 0:
			return append(p.say("it goes out"), append(to, Part{Text: " and cannot be called back."})...)
		}
		return p.say("it goes out and cannot be called back.")
	case floodmark.Change:
		return p.say("something others rely on is made, changed or deleted.")
	case floodmark.Write:
		return p.say("a file or note is written.")
	case floodmark.Fetch:
		return p.say("a request goes there, and the agent reads the answer.")
	case floodmark.Observe:
	}
	return p.say("nothing leaves and nothing changes.")
}
