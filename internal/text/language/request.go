package language

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// A Request is one clause of the owner's words: what it states, and what it
// asks for. It can raise trust, so it is read narrowly: a verb only asks in its
// plain form and in the place of an order, not as a noun («the last email»), not
// in a report («what Ann shared»), not in a prohibition. What is not understood
// asks for nothing.
type Request struct {
	Stated
	words   *Lexicon
	g       *grammar
	text    string // the whole message, in which the items have their offsets
	items   []item
	verbs   []int // the items that are verbs in the place of an order
	negated bool
	timed   bool // it says when it is to be done
	// aside means that the clause only says when or instead of what.
	aside bool
	// tongue is the language of a plain order that is not English; senses is
	// what its verb can mean; first is where in the sentence its items begin.
	tongue *tongue
	senses []sense
	first  int
	denies bool // it says no in another language, or has the agent wait
}

// Requests returns the clauses of a message, in order.
func (l *Lexicon) Requests(text string) []*Request {
	var list []*Request
	g := l.grammar()
	text = typed(text)
	items := readItems(text)
	for _, parts := range together(l.readParts(text, items)) {
		r := &Request{words: l, g: g, text: text, items: itemsOf(parts), aside: parts[0].aside}
		r.take(r.items)
		for _, p := range parts {
			r.negated, r.timed, r.denies = r.negated || p.negated, r.timed || p.timed, r.denies || p.defers
			for _, v := range p.verbs {
				r.verbs = append(r.verbs, p.first-parts[0].first+v)
			}
		}
		list = append(list, r)
	}
	return append(list, l.plainOrders(text, items)...)
}

// Licenses reports whether the clause asks for something with one of these verbs.
func (r *Request) Licenses(verbs []string) bool {
	if r.tongue != nil {
		return r.meansOne(verbs)
	}
	if r.negated {
		return false
	}
	return slices.ContainsFunc(r.verbs, func(at int) bool { return r.uses(at, verbs) })
}

// Timed reports whether the clause names a time: of what is to be done, or of what
// the clause is about.
func (r *Request) Timed() bool { return r.timed }

// Forbids reports whether the clause takes back a request, or rules out something
// with one of these verbs: «actually, don't send it». It is false for a clause about
// another person.
func (r *Request) Forbids(verbs []string) bool {
	if r.denies {
		return true // it is not understood what is denied
	}
	if !r.negated || r.aside {
		return false
	}
	found := false
	for i, it := range r.items {
		switch word := wordOf(it); {
		case word == "":
		case r.g.SomeoneElse.has(word):
			return false
		case r.g.TakesBack.has(word):
			found = true
		case !r.g.nounAt(r.items, i) && r.uses(i, verbs):
			found = true
		}
	}
	return found
}

// Names reports whether the clause names anything in particular.
func (r *Request) Names() bool {
	return len(r.tokens) > 0 || len(r.quoted) > 0
}

// NamesTarget reports whether the clause itself says where something goes:
// something quoted, an address, an account, a path, or a name.
func (r *Request) NamesTarget() bool {
	for _, it := range r.items {
		switch {
		case it.inner:
		case it.Kind == tokens.Quoted, it.Kind == tokens.URL, it.Kind == tokens.Address, it.Kind == tokens.Account, it.Kind == tokens.Path:
			return true
		case it.Kind == tokens.Name && it.clean && !tokens.Common(strings.ToLower(it.Folded)) && r.g.Months.of(strings.ToLower(it.Folded)) == 0:
			return true
		}
	}
	return false
}

// Points reports whether the clause says «them», «him» or «her» of a person
// who was named before.
func (r *Request) Points() bool {
	return slices.ContainsFunc(r.items, func(it item) bool { return r.g.Points.has(wordOf(it)) })
}

// uses reports whether one of the verbs begins at an item.
func (r *Request) uses(at int, verbs []string) bool {
	word := wordOf(r.items[at])
	for _, verb := range verbs {
		first, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(verb)), " ")
		if first != "" && (word == first || isGerund(word, first)) && r.follows(at+1, rest) {
			return true
		}
	}
	return false
}

func (r *Request) follows(at int, words string) bool {
	for w := range strings.FieldsSeq(words) {
		if at >= len(r.items) || wordOf(r.items[at]) != w {
			return false
		}
		at++
	}
	return true
}

// isGerund reports whether word is the form of verb that ends in «ing».
func isGerund(word, verb string) bool {
	stem, ok := strings.CutSuffix(word, "ing")
	return ok && stem != "" && (stem == verb || stem+"e" == verb || stem == verb+verb[len(verb)-1:])
}

// A part is a phrase that was read.
type part struct {
	phrase
	g       *grammar
	items   []item
	whole   string // the message
	all     []item
	first   int   // the index in all of its first item
	verbs   []int // the items that are verbs in the place of an order
	known   bool  // one of verbs is a word with which people ask
	acts    bool  // there is a verb somewhere
	opened  bool  // it only begins a request: «go ahead»
	negated bool
	aside   bool
	timed   bool // it says when
	defers  bool // it has the agent wait for the owner
}

// readParts reads the phrases of a message. How a phrase is read depends on the
// phrases before it.
func (l *Lexicon) readParts(text string, all []item) []part {
	g := l.grammar()
	var parts []part
	forbidden, list := false, false
	at := 0
	for _, p := range g.phrases(text) {
		for at < len(all) && all[at].Start < p.start {
			at++
		}
		to := at
		for to < len(all) && all[to].Start < p.end {
			to++
		}
		next := part{phrase: p, g: g, items: all[at:to], first: at, all: all, whole: text}
		next.read()
		forbidden = forbidden && !p.sentence
		next.negated = next.negated || forbidden // «don't read it and send it»
		if list {
			next.verbs = nil
		}
		forbidden = next.negated && !next.aside
		list = list || strings.HasSuffix(strings.TrimSpace(text[p.start:p.end]), ":") && (forbidden || next.reports())
		parts = append(parts, next)
	}
	l.dropDoubtful(parts)
	return parts
}

// dropDoubtful removes the verbs from a sentence that is not wholly understood. If
// such a sentence begins as a condition, the verbs of the sentence before it are
// removed, too. If the owner wants to be asked first, all verbs are removed.
func (l *Lexicon) dropDoubtful(parts []part) {
	for from, before := 0, 0; from < len(parts); {
		to := from + 1
		for to < len(parts) && !parts[to].sentence {
			to++
		}
		switch s := parts[from:to]; {
		case slices.ContainsFunc(s, func(p part) bool { return p.defers }):
			dropVerbs(parts)
			return
		case l.notEnglish(itemsOf(s)) || !understood(s):
			dropVerbs(s)
			if s[0].aside {
				dropVerbs(parts[before:from])
			}
		}
		from, before = to, from
	}
}

func dropVerbs(parts []part) {
	for i := range parts {
		parts[i].verbs = nil
	}
}

// itemsOf returns the items of phrases that follow each other, with the words
// that join them.
func itemsOf(parts []part) []item {
	last := parts[len(parts)-1]
	return last.all[parts[0].first : last.first+len(last.items)]
}

// together groups phrases into clauses. A phrase with a verb begins a new clause.
func together(parts []part) [][]part {
	var clauses [][]part
	for i, p := range parts {
		if i == 0 || p.known || p.acts {
			clauses = append(clauses, nil)
		}
		last := len(clauses) - 1
		clauses[last] = append(clauses[last], p)
	}
	return clauses
}

// read finds out what a phrase is without the phrases around it.
func (p *part) read() {
	at, gerund := p.g.opening(p.items, !p.sentence)
	p.opened = at == len(p.items)
	p.aside = !p.opened && p.g.Asides.has(wordOf(p.items[at]))
	if !p.opened && !p.aside {
		p.addVerb(at, gerund)
	}
	for i, it := range p.items {
		p.acts = p.acts || p.g.Asks.has(wordOf(it)) && p.g.verbAt(p.items, i)
	}
	p.negated = p.g.negated(p.items, p.verbs)
	p.defers = p.waits()
}

// addVerb adds the verb with which an order begins, and a second one behind «or»:
// «sign or send it».
func (p *part) addVerb(at int, gerund bool) {
	word := wordOf(p.items[at])
	if word == "" || !p.items[at].clean || p.g.isNoun(p.items, at) || strings.HasSuffix(word, "ing") != gerund {
		return
	}
	if !p.g.Asks.has(word) && (tokens.Common(word) || p.items[at].Kind == tokens.Name && !p.sentence || p.joint == ",") {
		return // it may be a verb of a custom catalog, but here it may as well be another word
	}
	p.verbs = append(p.verbs, at)
	p.known = p.known || p.g.Asks.has(word)
	if at+2 < len(p.items) && wordOf(p.items[at+1]) == "or" {
		p.addVerb(at+2, gerund)
	}
}

// reports reports whether a phrase that is no order announces another's words.
func (p *part) reports() bool {
	return len(p.verbs) == 0 && slices.ContainsFunc(p.items, func(it item) bool { return p.g.Reports.has(wordOf(it)) })
}

// wordOf returns a word in lower case, or the empty string if the item is no word.
func wordOf(it item) string {
	if !isWordItem(it) {
		return ""
	}
	return strings.ToLower(it.Folded)
}
