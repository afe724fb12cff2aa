package intent

import (
	"iter"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/provenance"
)

// A warrant names why a value that the owner did not type is accepted as theirs. It
// is recorded with the decision.
type warrant string

// What can vouch for a value; «they» are the owner.
const (
	byWhen     warrant = "when"     // a day they named, at an hour they named or left open
	byOpen     warrant = "open"     // a time, if they named no day but the rest of the call
	byFlag     warrant = "flag"     // a switch they spoke of by its name
	byField    warrant = "field"    // what the one record they named has in the field they named
	byChoice   warrant = "choice"   // the id of the record that their superlative picks on their own service: the largest, the oldest
	byRecord   warrant = "record"   // the id of the one record they named, on a service of their own
	byListed   warrant = "listed"   // a value that their own service lists, in a call that says only their own words
	bySource   warrant = "source"   // from the page or file they said it would be in
	byBegins   warrant = "begins"   // the only value in a list of their own service that begins as they said
	byContact  warrant = "contact"  // the address of a person they named, in a book of their own
	byPaid     warrant = "paid"     // the account of a person they named and have paid before
	bySender   warrant = "sender"   // the address, typed by them, of the sender whose message they said to act on
	byWords    warrant = "words"    // their own words, as the text of a record of their own
	byIssued   warrant = "issued"   // a value that their own service made, given back to that service
	bySelf     warrant = "self"     // their own address, from where they said it is
	byHeld     warrant = "held"     // the address of a person they named, from where they said it is
	bySite     warrant = "site"     // an address of the site they named, which that site itself gave
	byForm     warrant = "form"     // a part of a form that is filled with their words or data
	byLinked   warrant = "linked"   // a link that they asked to read, in a message they pointed at
	byComputed warrant = "computed" // an amount that follows from one in a record about the recipient
)

// names reports whether an argument with this warrant was named by the owner. A call needs at least
// one.
func (v warrant) names() bool { return v != byOpen && v != byFlag && v != byComputed && v != bySelf }

// Vouchable reports whether anything could vouch for an argument of this sort:
// never for a path, a command, or an undescribed argument.
func Vouchable(about catalog.Arg) bool {
	switch about.Is {
	case catalog.IsWhen, catalog.IsFlag, catalog.IsAmount, catalog.IsID, catalog.IsName, catalog.IsDestination,
		catalog.IsURL, catalog.IsSecret:
		return true
	}
	return false
}

// warrant returns what vouches for an argument, or nothing.
func (l *licence) warrant(i int, about catalog.Arg, leaf hook.Leaf) warrant {
	if l.tr == nil {
		for _, v := range l.known {
			if v.Argument == i {
				return warrant(v.By)
			}
		}
		return ""
	}
	switch about.Is {
	case catalog.IsWhen:
		switch {
		case l.whenAsked().Allows(leaf.Value):
			return byWhen
		case !l.whenAsked().Says() && (l.targetStated(i) || l.paysKnown() || l.hasTitle()):
			return byOpen
		}
	case catalog.IsSecret:
		if l.issued(i, about, leaf) {
			return byIssued
		}
	case catalog.IsFlag:
		if leaf.Kind == hook.Bool && l.turn.HasWord(leaf.Top) || leaf.Kind == hook.String && l.turn.HasChoice(leaf.Top, leaf.Value) {
			return byFlag
		}
	case catalog.IsURL:
		if l.site(leaf) {
			return bySite
		}
	case catalog.IsAmount:
		if l.computed(leaf.Value) {
			return byComputed
		}
	case catalog.IsID, catalog.IsName, catalog.IsDestination:
		return l.whoOrWhat(i, about, leaf)
	}
	return ""
}

// whoOrWhat returns what vouches for a name, an id, or who gets something.
func (l *licence) whoOrWhat(i int, about catalog.Arg, leaf hook.Leaf) warrant {
	a := l.call.Arguments[i]
	switch {
	case l.money() && about.Is == catalog.IsDestination && l.paid(leaf.Value):
		return byPaid
	case l.money():
	case about.Is == catalog.IsDestination && l.self(leaf):
		return bySelf
	case about.Is == catalog.IsDestination && l.held(i, leaf):
		return byHeld
	case about.Is != catalog.IsDestination && l.issued(i, about, leaf):
		return byIssued
	case about.Is == catalog.IsID && l.named(leaf.Value):
		return byRecord
	case about.Is == catalog.IsID && l.chosen(leaf.Value):
		return byChoice
	case about.Is == catalog.IsDestination && l.fieldOfNamed(leaf):
		return byField
	case about.Is == catalog.IsDestination && l.contact(a, leaf):
		return byContact
	case l.begins(leaf.Value) && l.targetStated(i) && !l.saysSomething():
		return byBegins
	case l.listed(leaf.Value) && l.ownWords(i):
		return byListed
	case l.sourced(a) && l.mayComeFromSource(i, about):
		return bySource
	}
	return ""
}

// targetStated reports whether the owner named another argument that decides
// where the effect lands.
func (l *licence) targetStated(except int) bool {
	for i, leaf := range l.call.Leaves {
		about := l.call.About[i]
		if i != except && leaf.Value != "" && leaf.Kind == hook.String && about.Role != floodmark.Content && about.Is != catalog.IsWhen && l.his(i, about) {
			return true
		}
	}
	return false
}

// ownWords reports whether each text of the call quotes the owner's words or is
// made of them. In a call without a text, the owner must have named another
// argument, and each name in the clauses that ask must be in another argument.
func (l *licence) ownWords(except int) bool {
	for text := range l.texts() {
		if !language.Quotes(l.said, text) && !l.s.Words.Retells(l.said, text) {
			return false
		}
	}
	return l.saysSomething() || l.targetStated(except) && !l.leavesOut(except)
}

// leavesOut reports whether a request of the owner's contains a name that is in no argument, the
// argument at index except not counted. Then that argument may have taken the place of what the
// owner named.
func (l *licence) leavesOut(except int) bool {
	return slices.ContainsFunc(l.asked.wanted, func(r *language.Request) bool {
		return slices.ContainsFunc(r.Called(), func(name string) bool {
			for i, leaf := range l.call.Leaves {
				if i != except && strings.Contains(leaf.Value, name) {
					return false
				}
			}
			return true
		})
	})
}

// listed reports whether a service of the owner's lists a value as something it has,
// such as a channel, a user or a folder.
func (l *licence) listed(value string) bool {
	if tokens.Reaches(value) {
		return false
	}
	fields := l.s.Words.Listed()
	if l.saysSomething() {
		fields = slices.Concat(fields, l.s.Words.Writers()) // who wrote something may get the owner's words
	}
	return slices.ContainsFunc(fields, func(field string) bool {
		lists := l.s.own(l.tr.Records(field, value))
		return len(lists) > 0 && !l.namesOther(field, value, lists)
	})
}

// begins reports whether the owner said how a value begins, and no other value of its list on a
// service of their own begins so.
func (l *licence) begins(value string) bool {
	lists := l.s.own(l.tr.Records("item", value))
	if len(lists) == 0 || tokens.Reaches(value) {
		return false
	}
	return slices.ContainsFunc(l.asked.wanted, func(r *language.Request) bool {
		return slices.ContainsFunc(r.Beginnings(), func(start string) bool {
			return strings.HasPrefix(value, start) && !slices.ContainsFunc(lists, func(list provenance.Record) bool {
				return l.tr.Beginning(list.Node, start) != 1
			})
		})
	})
}

// saysSomething reports whether the call has a text.
func (l *licence) saysSomething() bool {
	for range l.texts() {
		return true
	}
	return false
}

// texts returns the contents of the call that are not empty.
func (l *licence) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, leaf := range l.call.Leaves {
			if l.call.Arguments[i].Role == floodmark.Content && leaf.Value != "" && !yield(leaf.Value) {
				return
			}
		}
	}
}

// namesOther reports whether the owner named a different element of the lists, and so did not mean
// value. It is also true if the owner's text is too long to look at all its words.
func (l *licence) namesOther(field, value string, lists []provenance.Record) bool {
	inLists := func(r provenance.Record) bool {
		return slices.ContainsFunc(lists, func(list provenance.Record) bool { return list.Node == r.Node })
	}
	for _, text := range l.said {
		words, all := language.Words(text)
		if !all || slices.ContainsFunc(words, func(word string) bool {
			return !strings.EqualFold(word, value) && slices.ContainsFunc(l.tr.Records(field, word), inLists)
		}) {
			return true
		}
	}
	return false
}

// chosen reports whether a value identifies the record that a superlative of
// the owner's picks out.
func (l *licence) chosen(id string) bool {
	have := l.s.own(l.tr.Records("id", id))
	picked := l.s.own(l.tr.Extremes(l.s.Words, l.turn))
	return len(have) > 0 && len(picked) > 0 && !slices.ContainsFunc(picked, func(r provenance.Record) bool { return !slices.Contains(have, r) })
}

// fieldOfNamed reports whether the owner called exactly one record by its name and spoke of a field
// that has the value in this record: «the same participants as the meeting».
func (l *licence) fieldOfNamed(leaf hook.Leaf) bool {
	if l.s.Words.Small(strings.ToLower(leaf.Top)) {
		return false
	}
	if l.turn.HasWord(leaf.Top) {
		return l.calls(l.s.own(l.tr.Records(leaf.Top, leaf.Value)), true)
	}
	// «the collaborators of ada/paint» for an argument collaborator_email
	word, _, parted := strings.Cut(strings.ToLower(leaf.Top), "_")
	return parted && len(word) >= minFieldWord && slices.ContainsFunc(l.turn.WordsLike(word), func(field string) bool {
		return l.calls(l.s.own(l.tr.Records(field, leaf.Value)), true)
	})
}

// minFieldWord is the least length of a word that can mean a field.
const minFieldWord = 5

// mayComeFromSource reports whether the value of an argument may come from a page or file that the
// owner only pointed at.
func (l *licence) mayComeFromSource(i int, about catalog.Arg) bool {
	if about.Is == catalog.IsDestination {
		return l.onlySaysWho(i)
	}
	return l.targetStated(i) || about.Is == catalog.IsName && l.ownRecord()
}

// onlySaysWho reports whether a call has only destinations and names as arguments. The owner must
// have typed all of them, the one at index except not counted, and one must be a name: «invite
// Anna, her address is on this page». So a page can neither add nor choose the recipient of a text
// or a file.
func (l *licence) onlySaysWho(except int) bool {
	from, named := l.call.Leaves[except], false
	reaches := tokens.Reaches(from.Value)
	for i, leaf := range l.call.Leaves {
		if i == except || leaf.Value == "" {
			continue
		}
		about := l.call.About[i]
		who := about.Is == catalog.IsDestination || about.Is == catalog.IsName && !reaches
		if !who || leaf.Top == from.Top || !l.his(i, about) {
			return false
		}
		named = named || l.turn.HasName(leaf.Value)
	}
	return named
}

// ownRecord reports whether the call only changes what the owner's own service keeps.
func (l *licence) ownRecord() bool {
	return l.call.Use.Own && !slices.Contains(l.call.Effects, floodmark.Send)
}

// sourced reports whether a value was seen only in pages or files that the
// owner named in this turn.
func (l *licence) sourced(a floodmark.Argument) bool {
	if a.Whence != floodmark.Seen {
		return false
	}
	return !slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		src, ok := l.s.Ledger.Source(sp.Node)
		place := src.Origin.Place
		return !ok || place == "" || !l.turn.HasHost(place) && !l.turn.Has(place, hook.String, "")
	})
}

// money reports whether the call has an amount.
func (l *licence) money() bool {
	return l.call.has(catalog.IsAmount)
}

// named reports whether a value identifies the record that the owner called by
// its name. If two records have that name, it returns false, because the owner may
// have meant the other record, and an attacker may have made this one.
func (l *licence) named(id string) bool {
	return l.calls(l.s.own(l.tr.Records("id", id)), false)
}

// calls reports whether the owner called one of these records by its name, and
// no other record has that name. If only is set, they must not have called any
// other record by its name. A name inside a longer one is ignored.
func (l *licence) calls(have []provenance.Record, only bool) bool {
	if len(have) == 0 {
		return false
	}
	other := func(r provenance.Record) bool { return !slices.Contains(have, r) }
	var names []string
	found := false
	for _, text := range l.said {
		for _, title := range l.s.Words.Titles(text) {
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, title) }) {
				continue
			}
			called := l.s.own(l.titledRecords(title))
			switch {
			case len(called) == 0:
				continue
			case !slices.ContainsFunc(called, other):
				found = true
			case only:
				return false
			}
			names = append(names, title)
		}
	}
	return found
}

// own returns the records that came from a service of the owner's. The program of
// the service wrote their fields, so an author cannot have made them up.
func (s *Session) own(records []provenance.Record) []provenance.Record {
	return slices.DeleteFunc(records, func(r provenance.Record) bool {
		src, ok := s.Ledger.Source(r.Node)
		return !ok || !OwnTool(s.Catalog, s.Agent, src)
	})
}

// OwnTool reports whether content is the result of a tool of the owner's own service.
func OwnTool(c *catalog.Catalog, agent string, src floodmark.Source) bool {
	if src.Origin.Kind != floodmark.FromTool {
		return false
	}
	p, ok := c.Lookup(floodmark.ToolRef{Agent: agent, Server: src.Origin.Server, Name: src.Origin.Name})
	return ok && p.Own()
}

// Assumed returns a ground for an argument of a recorded call, if it was not recorded
// whether anything vouched for the argument.
func Assumed(argument int) floodmark.Ground {
	return floodmark.Ground{Argument: argument, By: string(byRecord)}
}
