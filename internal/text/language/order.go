package language

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// This file says how an English order is made up. The words are in
// words/en.yaml.

// opening returns the index at which the verb must be if the phrase is an order,
// and whether the verb must end in «ing». goesOn says that the phrase goes on from
// another one, so that it may begin with «to».
func (g *grammar) opening(items []item, goesOn bool) (at int, gerund bool) {
	for at < len(items) {
		n, ing := 1, gerund
		switch word := wordOf(items[at]); {
		case at == 0 && (items[at].Kind == tokens.Number || items[at].Kind == tokens.ID): // 1) …
		case at+1 < len(items) && items[at+1].label && g.Headings.has(word):
		case g.Greetings.has(word) && at+2 < len(items) && items[at+1].Kind == tokens.Name && !items[at+2].apart && !g.Asks.has(wordOf(items[at+1])):
			n = 2
		case g.Fillers.has(word):
		case goesOn && word == "to":
			goesOn = false
		default:
			n, ing = g.opener(items[at:])
		}
		if n == 0 {
			break
		}
		at, gerund = at+n, ing
	}
	return at, gerund
}

// opener returns how many items are words with which people begin a request, such
// as «could you», and whether the verb behind these words ends in «ing».
func (g *grammar) opener(items []item) (n int, gerund bool) {
	word := wordOf(items[0])
	for _, words := range g.Openers {
		if first, _, _ := strings.Cut(words, " "); same(word, first) && g.matches(items, words) > 0 {
			return g.matches(items, words), g.GerundOpeners.has(words)
		}
	}
	return 0, false
}

// matches returns how many items spell these words. A polite word may stand
// between them: «could you please also».
func (g *grammar) matches(items []item, words string) int {
	n := 0
	for want := range strings.FieldsSeq(words) {
		for n > 0 && n < len(items) && !items[n].apart && g.Polite.has(wordOf(items[n])) && wordOf(items[n]) != want {
			n++
		}
		if n >= len(items) || n > 0 && items[n].apart || !same(wordOf(items[n]), want) {
			return 0
		}
		n++
	}
	return n
}

func same(word, want string) bool {
	switch want {
	case "i":
		return word == "i" || word == "we"
	case "i'd":
		return word == "i'd" || word == "we'd" || word == "id"
	case "i'm":
		return word == "i'm" || word == "we're"
	case "am":
		return word == "am" || word == "are"
	}
	return word == want
}

// isNoun reports whether the first word of what looks like an order is rather
// the name of a thing: «email from Ann», «reply by Bob», «post I wrote».
func (g *grammar) isNoun(items []item, at int) bool {
	if at+1 >= len(items) || items[at+1].apart {
		return false
	}
	next := wordOf(items[at+1])
	return g.AfterNoun.has(next) || g.AfterThing.has(next) && g.Things.has(wordOf(items[at]))
}

// nounAt reports whether the word before an item is one that only a noun follows.
func (g *grammar) nounAt(items []item, i int) bool {
	if i == 0 || items[i].apart {
		return false
	}
	return g.BeforeNoun.has(wordOf(items[i-1]))
}

// verbAt reports whether the plain form of a verb at an item is used as a verb.
func (g *grammar) verbAt(items []item, i int) bool {
	if i == 0 || items[i].apart {
		return true
	}
	word := wordOf(items[i-1])
	return g.BeforeVerb.has(word) || strings.HasSuffix(word, "n't") || items[i-1].Kind == tokens.Address
}

// waits reports whether a phrase has the agent wait for the owner.
func (p *part) waits() bool {
	at, _ := p.g.opening(p.items, true)
	for i := range p.items {
		if plainMatch(p.items[i:], p.g.Waits) > 0 || (i == 0 || i == at) && plainMatch(p.items[i:], p.g.Defers) > 0 {
			return true
		}
	}
	return false
}

// understood reports whether a sentence is made of orders and nothing else: each
// phrase is an order, or begins or continues one, and is read to its last word.
// What is not understood may be a condition: «once I approve», «on Friday».
func understood(parts []part) bool {
	orders, direct := false, false
	for i := range parts {
		p, from := &parts[i], 0
		switch {
		case p.opened:
			continue
		case p.negated, p.aside, len(p.verbs) == 0 && !orders:
			return false
		case len(p.verbs) > 0:
			from, orders, direct = p.verbs[0]+1, true, true
		}
		o := order{part: p, at: from, direct: direct}
		if from > 0 {
			o.end = p.items[from-1].End
		}
		switch rest := parts[i+1:]; {
		case !o.read(), o.closes && slices.ContainsFunc(rest, func(p part) bool { return len(p.verbs) > 0 }):
			return false
		case o.text:
			dropVerbs(rest)
			return true
		}
		direct = o.direct && o.last == value
	}
	return true
}

// An order reads the words behind a verb: things and people, and how they belong
// together. Only listed words may join them. A condition needs other words, so it
// is not read.
type order struct {
	*part
	at, end int // the index of the item to read, and where the item before it ends
	last    standing
	direct  bool // only the verb is before the item: «send Bob the plan»
	inside  bool // a clause inside was opened: «what you find»
	place   bool // the last word that joined may say on what terms: «in the event»
	closes  bool // no order may follow: «ask me and», «how I write it and»
	text    bool // what follows is a text
}

// A standing says what kind of word is before a word of an order.
type standing uint8

const (
	joined standing = iota // a verb, a preposition or an article: a noun must follow
	thing                  // a noun, to which others may be added
	value                  // what is complete: an address, a name, «it»
)

func (o *order) read() bool {
	for ; o.at < len(o.items) && !o.text; o.at++ {
		it := o.items[o.at]
		if !it.inner && it.Start >= o.end { // not inside quotes
			if !o.sign(it) || !o.text && !o.next(it, wordOf(it)) {
				return false
			}
		}
		o.end = max(o.end, o.items[min(o.at, len(o.items)-1)].End)
	}
	return true
}

// sign reads the marks between an item and the one before. It returns false if it
// does not understand them.
func (o *order) sign(it item) bool {
	if o.at == 0 {
		return true
	}
	switch strings.Trim(o.whole[o.end:it.Start], " \t\"'`“”«»‘’*{}") {
	case "":
	case ",", "+", "s": // «Bob's»
		o.last = joined
	case "(", "<", "[":
		o.last = joined
		return !isWordItem(it) || it.Kind == tokens.Name || o.g.Refers.has(wordOf(it))
	case ")", ">", "]":
		o.last = value
	case ":", "=":
		o.text = true
	default:
		return false
	}
	return true
}

// next reads one item. It returns false if it does not understand the item there.
func (o *order) next(it item, word string) bool {
	g, last := o.g, o.last
	second := last == value && o.direct // the other object of the verb
	fits := last != value || second || o.inside
	switch {
	case g.isTime(it):
		o.timed, o.last = true, thing
		return true
	case word == "" && tokens.IsDigit(it.raw[0]), tokens.IsCurrency(word):
		o.last = thing
	case word == "" || it.Kind == tokens.Name && !tokens.Common(word):
		o.last = value
		fits = fits || o.at > 0 && it.Kind == tokens.Name && (o.items[o.at-1].Kind == tokens.Name || o.at+1 < len(o.items) && g.Nouns.has(wordOf(o.items[o.at+1])))
	case g.Beside.has(word), tokens.Connects(word) && joinsNames(o.items, o.at):
		return true
	case g.Inside.has(word) && (last != joined || !o.joins(o.at+1)):
		o.inside, o.last, o.direct = true, joined, false
		return last != thing || !o.place
	case g.Links.has(word):
		return o.link(word)
	case o.inside && (g.Within.has(word) || strings.HasSuffix(word, "n't")):
		o.last = joined
		return true
	case g.Subjects.has(word) && (second || last == thing && !o.place && !g.isTime(o.items[o.at-1])):
		o.inside, o.last = true, joined // «tell Ann I am late», «the amount I paid»
		return true
	case g.Objects.has(word):
		o.last = value
		before := wordOf(o.items[max(0, o.at-1)])
		o.closes = o.closes || g.Us.has(word) && (slices.Contains(o.verbs, o.at-1) || g.Links.has(before) && before != "for")
		fits = fits && (last != thing || o.inside)
	case g.Articles.has(word):
		o.last = joined
		fits = fits && (last != thing || o.inside)
	default:
		o.last = thing
		return o.noun(word, last)
	}
	o.direct = o.direct && !second
	return fits
}

// isTime reports whether an item says when.
func (g *grammar) isTime(it item) bool {
	word := wordOf(it)
	_, day, clock := tokens.ReadTime(it.raw)
	return day || clock || g.Times.has(word) || g.Months.of(word) != 0
}

// joins reports whether what is before an item is complete, because the phrase ends there or a word
// follows that joins a noun: «that to», not «that Ann wrote».
func (o *order) joins(at int) bool {
	return at >= len(o.items) || o.g.Links.has(wordOf(o.items[at]))
}

// link reads a word that joins a noun to what is before. If what is before is
// complete and the word may say when, a time or a name must follow.
func (o *order) link(word string) bool {
	last, inside := o.last, o.inside
	o.last, o.direct, o.inside, o.place = joined, false, false, o.g.Places.has(word)
	if o.at+1 >= len(o.items) {
		return true
	}
	next := o.items[o.at+1]
	after := wordOf(next)
	switch free := last != value || inside; {
	case o.place && o.g.Articles.has(after) && o.at+2 < len(o.items):
		return free || o.g.Spots.has(wordOf(o.items[o.at+2]))
	case (word == "to" || word == "or") && o.g.Asks.has(after) && !next.apart: // «to ask»
		if len(o.verbs) == 1 && o.g.Means.has(wordOf(o.items[o.verbs[0]])) {
			o.verbs = append(o.verbs, o.at+1) // «use the mailbox to send it»
		}
		o.direct, o.at = true, o.at+1
	case word == "by" && last != joined && strings.HasSuffix(after, "ing"):
		o.verbs = append(o.verbs, o.at+1) // «book a table by calling»
	case o.place:
		o.timed = o.timed || after == "" && tokens.IsDigit(next.raw[0]) && !free
		return free || after == "" || o.g.isTime(next) || next.Kind == tokens.Name && !tokens.Common(after) || o.g.Refers.has(after) || o.g.Spots.has(after)
	}
	return true
}

// noun reports whether a word may be a noun, or belong to one.
func (o *order) noun(word string, last standing) bool {
	o.closes = o.closes || o.inside && o.g.Asks.has(word)
	switch {
	case o.g.Modifies.has(word), o.g.Nouns.has(word):
		return true
	case tokens.Common(word) && (!o.g.Asks.has(word) || last != joined):
		return false
	case last == value:
		return o.inside
	case last == thing && !o.inside:
		return !strings.HasSuffix(word, "ing") && !strings.HasSuffix(word, "ed") && !strings.HasSuffix(word, "ly")
	}
	return true
}

// negated reports whether a phrase says no to anything. It ignores the verbs of an
// order («stop the server»), and what somebody is to be told.
func (g *grammar) negated(items []item, verbs []int) bool {
	for i, it := range items {
		word := wordOf(it)
		before, after := "", ""
		if i > 0 {
			before = wordOf(items[i-1])
		}
		if i+1 < len(items) {
			after = wordOf(items[i+1])
		}
		if len(verbs) > 0 && i > verbs[0]+1 && (g.OpensClause.has(word) || g.Tells.has(word)) {
			return false // «write to Ann that I will not come»
		}
		switch {
		case g.Denies.has(word), g.Stops.has(word) && !slices.Contains(verbs, i):
			return true
		case word == "no":
			if after == "later" || after == "matter" || after == "problem" || after == "worries" || after == "more" ||
				i+1 < len(items) && (items[i+1].Kind == tokens.Number || items[i+1].Kind == tokens.ID) {
				continue
			}
			return true
		case word == "not":
			if after == "forget" || after == "hesitate" || after == "only" || before == "why" || before == "or" {
				continue
			}
			return true
		case word == "instead" || word == "rather":
			if after == "of" || after == "than" {
				return true
			}
		case strings.HasSuffix(word, "n't") && after != "forget" && after != "hesitate" && before != "why":
			return true
		}
	}
	return false
}

// Assents reports whether a message says yes and nothing else.
func (l *Lexicon) Assents(text string) bool {
	g := l.grammar()
	items := readItems(text)
	if slices.ContainsFunc(l.tongues(), func(t *tongue) bool { return t.assents(text, items) }) {
		return true
	}
	yes := false
	for at := 0; at < len(items); {
		n, strong := g.assent(items[at:])
		if n == 0 {
			return false
		}
		at, yes = at+n, yes || strong
	}
	return yes
}

// assent returns how many items say yes. strong says that no other word is needed for that.
func (g *grammar) assent(items []item) (n int, strong bool) {
	if n := plainMatch(items, g.Assents); n > 0 {
		return n, true
	}
	return plainMatch(items, g.AssentsWith), false
}

// plainMatch looks for the first expression of a list that the items spell, and returns how many
// items spell it; 0 if there is none.
func plainMatch(items []item, list []string) int {
	word := wordOf(items[0])
	for _, words := range list {
		if strings.HasPrefix(words, word) && spell(items, words) > 0 {
			return spell(items, words)
		}
	}
	return 0
}

func spell(items []item, words string) int {
	n := 0
	for w := range strings.FieldsSeq(words) {
		if n >= len(items) || wordOf(items[n]) != w || n > 0 && items[n].apart {
			return 0
		}
		n++
	}
	return n
}
