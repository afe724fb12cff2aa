package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/provenance"
)

// A licence finds out whether the owner's words of this turn cover a call.
type licence struct {
	s       *Session
	call    *Call
	tr      *provenance.Tracer // nil for a recorded call, whose grounds are known
	known   []floodmark.Ground
	said    []string
	asked   asked
	turn    *language.Stated   // what the owner stated in this turn
	when    *language.When     // read when it is first needed
	grounds []floodmark.Ground // found so far
}

// Covered reports whether the owner's own words cover the call: they asked for
// such an effect in this turn, and every value that decides where the effect lands
// is theirs. A path that they named for reading is not named for deleting. It
// returns the grounds of the arguments that they did not type, as far as it looked.
// Without a tracer the call is a recorded one, and known are the grounds it had.
func (s *Session) Covered(c *Call, tr *provenance.Tracer, known []floodmark.Ground) ([]floodmark.Ground, bool) {
	if c.Use.Profile == nil || c.Use.SelfProtected {
		return nil, false
	}
	if !relaxable(c.Effects) {
		return nil, false
	}
	for i, a := range c.Arguments {
		if a.Role != floodmark.Content && a.Whence != floodmark.Stated && !Vouchable(c.About[i]) && !slices.Contains(c.Use.Selectors, c.Leaves[i].Top) {
			return nil, false // whatever the words are, so they are not read
		}
	}
	l := licence{s: s, call: c, tr: tr, known: known, said: s.thisTurn(), turn: &language.Stated{}}
	l.asked = s.asks(l.said, c.Use.Licence)
	if !c.has(catalog.IsWhen) {
		l.asked.wanted = slices.DeleteFunc(l.asked.wanted, (*language.Request).Timed) // «on Friday» is not now
	}
	if len(l.asked.wanted) == 0 {
		covered := l.answersSender()
		return l.grounds, covered
	}
	l.turn = s.statedIn(l.said)
	covered := l.covers()
	return l.grounds, covered
}

// relaxable reports whether the owner's words can allow these effects: at least one
// writes, changes or sends, and all others only read. About reading the flow rules
// decide, whatever the owner said.
func relaxable(effects []floodmark.Effect) bool {
	some := false
	for _, e := range effects {
		switch e {
		case floodmark.Write, floodmark.Change, floodmark.Send:
			some = true
		case floodmark.Fetch, floodmark.Observe:
		default:
			return false
		}
	}
	return some
}

// whenAsked returns what the owner said about time: in the clauses that ask, or, if
// these name no day, anywhere in the turn.
func (l *licence) whenAsked() *language.When {
	if l.when != nil {
		return l.when
	}
	l.when = &language.When{}
	for _, r := range l.asked.wanted {
		r.AddTo(l.when)
	}
	if !l.when.Says() {
		*l.when = l.s.Words.ReadWhen(l.said...)
	}
	return l.when
}

// covers reports whether the owner named each argument, or something vouches for it, and whether
// they named at least one.
func (l *licence) covers() bool {
	named := 0
	for i, a := range l.call.Arguments {
		leaf := l.call.Leaves[i]
		about := l.call.About[i]
		if isForm(about) {
			if !l.vouchForm(i, about) {
				return false
			}
			continue
		}
		if a.Role == floodmark.Content || slices.Contains(l.call.Use.Selectors, leaf.Top) {
			continue // a selector only chose the effect, which the owner's verb allows
		}
		ruledOut := func(r *language.Request) bool { return r.Has(leaf.Value, leaf.Kind, RoleName(about, leaf)) }
		says := leaf.Value != "" && (leaf.Kind == hook.String || leaf.Kind == hook.Number)
		if says && slices.ContainsFunc(l.asked.ruledOut, ruledOut) {
			return false
		}
		if l.his(i, about) {
			if says {
				named++ // false, null and the empty string name nothing
			}
			continue
		}
		by := l.warrant(i, about, leaf)
		if by == "" {
			return false
		}
		if by.names() {
			named++
		}
		l.grounds = append(l.grounds, floodmark.Ground{Argument: i, By: string(by)})
	}
	return named > 0 || l.inHisWords()
}

// his reports whether the owner typed an argument, and named it in this turn in its role.
func (l *licence) his(i int, about catalog.Arg) bool {
	return l.call.Arguments[i].Whence == floodmark.Stated && l.stated(about, l.call.Leaves[i])
}

// stated reports whether the owner named a value in this turn, in its role. A value that says where
// an effect goes, or how large it is, must be in a clause that asks for the effect. A destination
// must be there as the target. Any other value may be anywhere in the turn.
func (l *licence) stated(about catalog.Arg, leaf hook.Leaf) bool {
	if leaf.Value == "" || leaf.Kind == hook.Null || leaf.Kind == hook.Bool {
		return true
	}
	if !lands(about) {
		return l.turn.Has(leaf.Value, leaf.Kind, RoleName(about, leaf))
	}
	named := func(r *language.Request) bool { return namedAs(r, l.call.Use, about, leaf) }
	if slices.ContainsFunc(l.asked.wanted, named) {
		return true
	}
	return about.Is == catalog.IsDestination && l.meant(leaf.Value)
}

// meant reports whether a clause that asks, but names no target, means this value: it is the one
// thing of its kind that the owner named, or the clause says «them» and the owner named this person.
func (l *licence) meant(value string) bool {
	return slices.ContainsFunc(l.asked.wanted, func(r *language.Request) bool {
		return !r.NamesTarget() && (l.turn.HasOnly(value) || r.Points() && l.turn.HasName(value))
	})
}

// namedAs reports whether a clause names a value as what the argument is.
func namedAs(r *language.Request, use *catalog.Use, about catalog.Arg, leaf hook.Leaf) bool {
	role := RoleName(about, leaf)
	switch {
	case about.Is == catalog.IsAmount:
		return r.HasAsAmount(leaf.Value, leaf.Kind, role)
	case about.Is == catalog.IsDestination, about.Role == floodmark.Undeclared,
		about.Is == catalog.IsURL && slices.Contains(use.Effects, floodmark.Send):
		return r.HasAsTarget(leaf.Value, leaf.Kind, role)
	}
	return r.Has(leaf.Value, leaf.Kind, role)
}

// lands reports whether an argument decides where an effect lands or how much
// it is, rather than how it looks there.
func lands(a catalog.Arg) bool {
	switch a.Is {
	case catalog.IsWhen, catalog.IsName, catalog.IsText, catalog.IsFile, catalog.IsFlag:
		return false
	}
	return true
}

// asked holds the clauses in which the owner asked for something, and those that rule something out.
type asked struct{ wanted, ruledOut []*language.Request }

// asks returns the clauses in which the owner asked with one of the verbs. A clause
// that forbids it, such as «Don't send it», takes back what they asked for before.
// If that clause names something, it only rules out what it names.
func (s *Session) asks(said, verbs []string) asked {
	var a asked
	for _, text := range said {
		for _, r := range s.requests(text) {
			switch {
			case r.Licenses(verbs):
				a.wanted = append(a.wanted, r)
			case !r.Forbids(verbs):
			case r.Names():
				a.ruledOut = append(a.ruledOut, r)
			default:
				a.wanted = nil
			}
		}
	}
	return a
}

// Asks reports whether the owner asked for something in this turn, with one of the
// verbs.
func (s *Session) Asks(verbs ...string) bool {
	return len(s.asks(s.thisTurn(), verbs).wanted) > 0
}

// thisTurn returns what the owner said in this turn. If they only said yes, it
// includes the turn before. A branch has the words of the turn in which it began.
func (s *Session) thisTurn() []string {
	now := s.Said[min(s.Turn, len(s.Said)):]
	if len(now) > 0 && !slices.ContainsFunc(now, func(text string) bool { return !s.assents(text) }) {
		return s.Said[min(s.LastTurn, len(s.Said)):]
	}
	return now
}

// answersSender reports whether a call only writes back to a sender whose message
// the owner said to act on: «do what is asked in the mail from anna@desk.example».
// The message itself is not the owner's word, so it must not add a recipient, an
// amount or a file: besides its text the call has only addresses of such senders,
// which the owner typed.
func (l *licence) answersSender() bool {
	if l.money() || l.tr != nil && !l.saysSomething() || slices.ContainsFunc(l.call.Effects, func(e floodmark.Effect) bool { return e != floodmark.Send }) {
		return false
	}
	senders := l.delegates()
	if len(senders) == 0 {
		return false
	}
	var grounds []floodmark.Ground
	for i, a := range l.call.Arguments {
		leaf := l.call.Leaves[i]
		if a.Role == floodmark.Content || leaf.Value == "" || leaf.Kind == hook.Null {
			continue
		}
		if l.call.About[i].Is != catalog.IsDestination || a.Whence != floodmark.Stated || !slices.Contains(senders, leaf.Value) || !l.knew(i, bySender) {
			return false
		}
		grounds = append(grounds, floodmark.Ground{Argument: i, By: string(bySender)})
	}
	l.grounds = append(l.grounds, grounds...)
	return len(grounds) > 0
}

// delegates returns the senders whose messages the owner said to act on; nil if the owner also
// forbade what the call does.
func (l *licence) delegates() []string {
	var senders []string
	for _, text := range l.said {
		for _, r := range l.s.requests(text) {
			if r.Forbids(l.call.Use.Licence) {
				return nil
			}
			senders = append(senders, r.ActsFor()...)
		}
	}
	return senders
}

// knew reports whether a recorded call had this ground for an argument. For a live call it returns
// true.
func (l *licence) knew(i int, by warrant) bool {
	return l.tr != nil || slices.Contains(l.known, floodmark.Ground{Argument: i, By: string(by)})
}

// RoleName returns the words by which an owner may speak of an argument: its name,
// and before it what it is, if that is an amount, a time or an id.
func RoleName(a catalog.Arg, l hook.Leaf) string {
	switch a.Is {
	case "amount", "when", "id":
		return a.Is + " " + l.Top
	}
	return l.Top
}
