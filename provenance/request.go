package provenance

import (
	"slices"
	"strings"
)

// A Request is one clause of the owner's words: what it states, and what it
// asks for. It raises trust, so it is read narrowly: a verb asks only in its
// plain form and where an order stands, not as a noun («the last email»), not
// in a report («what Ann shared»), not in a prohibition. What is not
// understood asks for nothing.
type Request struct {
	Stated
	words   *Lexicon
	g       *grammar
	text    string // the whole message; the items stand in it
	items   []item
	verbs   []int // the items that are verbs in the place of an order
	negated bool
	// aside means that the clause only says when or instead of what.
	aside bool
	// tongue is set for a plain order in another language, with what its verb
	// can mean and where in the sentence the items begin.
	tongue *tongue
	senses []sense
	first  int
	denies bool // it says no in another language
}

// Requests returns the clauses of a message, in order.
func (l *Lexicon) Requests(text string) []*Request {
	var list []*Request
	g := l.grammar()
	text = typed(text)
	for _, parts := range together(l.readParts(text)) {
		r := &Request{words: l, g: g, text: text, items: itemsOf(parts), aside: parts[0].aside}
		r.take(r.items)
		for _, p := range parts {
			r.negated = r.negated || p.negated
			for _, v := range p.verbs {
				r.verbs = append(r.verbs, p.first-parts[0].first+v)
			}
		}
		r.addMeans()
		list = append(list, r)
	}
	for i, r := range list[:max(0, len(list)-1)] {
		r.addRelayed(list[i+1])
	}
	return append(list, l.plainOrders(text)...)
}

// addMeans takes in by what an order is to be carried out: «book a table by
// visiting this page», but not «the harm done by visiting it».
func (r *Request) addMeans() {
	if len(r.verbs) == 0 {
		return
	}
	for i := r.verbs[0] + 1; i+1 < len(r.items) && !r.items[i].sentence; i++ {
		switch word, before := wordOf(r.items[i]), wordOf(r.items[i-1]); {
		case r.g.OpensClause.has(word) || word == "that" && !r.points(i):
			return
		case word == "by" && strings.HasSuffix(wordOf(r.items[i+1]), "ing"):
			if !strings.HasSuffix(before, "ed") && before != "done" {
				r.verbs = append(r.verbs, i+1)
			}
			return
		}
	}
}

// Licenses reports whether the clause asks for one of these things.
func (r *Request) Licenses(verbs []string) bool {
	if r.tongue != nil {
		return r.meansOne(verbs)
	}
	if r.negated {
		return false
	}
	return slices.ContainsFunc(r.verbs, func(at int) bool { return r.uses(at, verbs) })
}

// Forbids reports whether the clause takes back or rules out one of these
// things: «actually, don't send it». One about somebody else does not.
func (r *Request) Forbids(verbs []string) bool {
	if r.denies {
		return true // of what, is not understood
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
// something quoted, an address, an account, or somebody's name.
func (r *Request) NamesTarget() bool {
	for _, it := range r.items {
		switch {
		case it.inner:
		case it.kind == Quoted, it.kind == URL, it.kind == Address, it.kind == Account, it.kind == Path:
			return true
		case it.kind == Name && it.clean && !common(strings.ToLower(it.folded)) && r.g.Months.of(strings.ToLower(it.folded)) == 0:
			return true
		}
	}
	return false
}

// Points reports whether the clause says «them», «him» or «her» of somebody
// who was named before.
func (r *Request) Points() bool {
	return slices.ContainsFunc(r.items, func(it item) bool { return r.g.Points.has(wordOf(it)) })
}

// uses reports whether one of the verbs stands at an item.
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
	all     []item // of the message
	first   int    // which of these is its first
	verbs   []int  // the items that are verbs in the place of an order
	known   bool   // one of these is a verb people ask with
	acts    bool   // there is a verb somewhere
	wants   bool   // «to» and a verb, not in the place of an order
	asks    bool   // it is about how somebody acts: «how I send it»
	opened  bool   // it only begins a request: «go ahead»
	negated bool
	aside   bool
}

// readParts reads the phrases of a message, each in the light of those before.
func (l *Lexicon) readParts(text string) []part {
	g := l.grammar()
	all := readItems(text)
	var parts []part
	var so reading
	at := 0
	for _, p := range g.phrases(text) {
		for at < len(all) && all[at].start < p.start {
			at++
		}
		to := at
		for to < len(all) && all[to].start < p.end {
			to++
		}
		next := part{phrase: p, g: g, items: all[at:to], first: at, all: all}
		next.read()
		so.follow(&next, strings.HasSuffix(strings.TrimSpace(text[p.start:p.end]), ":"))
		parts = append(parts, next)
	}
	l.dropForeign(parts)
	return parts
}

// dropForeign leaves no verb in a sentence that is not all English.
func (l *Lexicon) dropForeign(parts []part) {
	for from := 0; from < len(parts); {
		to := from + 1
		for to < len(parts) && !parts[to].sentence {
			to++
		}
		if l.notEnglish(itemsOf(parts[from:to])) {
			for i := range parts[from:to] {
				parts[from+i].verbs = nil
			}
		}
		from = to
	}
}

// itemsOf returns the items of phrases that follow each other, with the words
// that join them.
func itemsOf(parts []part) []item {
	last := parts[len(parts)-1]
	return last.all[parts[0].first : last.first+len(last.items)]
}

// together returns the phrases of each clause: one that acts begins another.
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

// read finds out what a phrase is by itself.
func (p *part) read() {
	at, gerund := p.g.opening(p.items, !p.sentence)
	p.aside = p.g.isAside(p.items) || p.joint == "before" || p.joint == "after"
	p.opened = at == len(p.items)
	if !p.opened && !p.aside {
		p.addVerb(at, gerund)
	}
	for i, it := range p.items {
		word := wordOf(it)
		if !p.g.Asks.has(word) || !p.g.verbAt(p.items, i) {
			continue
		}
		p.acts = true
		if i > 0 && wordOf(p.items[i-1]) == "to" && !slices.Contains(p.verbs, i) {
			p.wants = true
		}
		p.asks = p.asks || i > 1 && p.g.OpensClause.has(wordOf(p.items[i-2]))
	}
	p.negated = p.g.negated(p.items, p.verbs)
}

// addVerb takes in the verb an order begins with, and those that go with it:
// «sign or send it», «use the mailbox to send it».
func (p *part) addVerb(at int, gerund bool) {
	word := wordOf(p.items[at])
	if word == "" || !p.items[at].clean || p.g.isNoun(p.items, at) || strings.HasSuffix(word, "ing") != gerund {
		return
	}
	if !p.g.Asks.has(word) && (common(word) || p.items[at].kind == Name && !p.sentence || p.joint == ",") {
		return // a verb of somebody's own catalog is not taken for granted
	}
	p.verbs = append(p.verbs, at)
	p.known = p.known || p.g.Asks.has(word)
	if at+2 < len(p.items) && wordOf(p.items[at+1]) == "or" {
		p.addVerb(at+2, gerund)
	}
	for i := at + 1; i+1 < len(p.items) && p.g.Means.has(word); i++ {
		if wordOf(p.items[i]) == "to" && p.g.Asks.has(wordOf(p.items[i+1])) {
			p.verbs = append(p.verbs, i+1)
			return
		}
	}
}

// A reading is what the phrases so far mean for the next one.
type reading struct {
	forbidden bool // «don't read it and …»
	reported  bool // «Ann read it and …»
	wanted    bool // «Ann wants me to read it, …»
	list      bool // what follows the colon is all forbidden, or reported
}

// follow decides what a phrase means behind those before it, and remembers
// what it means for the next.
func (so *reading) follow(p *part, colon bool) {
	if p.sentence {
		*so = reading{list: so.list}
	}
	if so.list {
		p.verbs = nil
		return
	}
	first := ""
	if len(p.items) > 0 {
		first = wordOf(p.items[0])
	}
	switch {
	case p.joint == "but" || p.joint == "so", first == "please" || first == "instead" && !p.aside, p.joint == "," && (first == "just" || first == "but" || first == "so"):
		*so = reading{}
	case so.forbidden:
		p.verbs, p.negated = nil, true
	case so.reported && (p.joint == "and" || p.joint == "then" || p.joint == "and then"), so.wanted && p.joint == ",":
		p.verbs = nil
	}
	switch {
	case p.negated && !p.aside:
		so.forbidden = true
	case p.negated:
		so.reported = true
	case p.opened:
	case len(p.verbs) > 0 && p.known && !p.asks:
		so.reported, so.wanted = false, false
	case p.acts:
		so.reported, so.wanted = true, p.wants && !p.aside
	}
	so.list = colon && (so.forbidden || len(p.verbs) == 0 && slices.ContainsFunc(p.items, func(it item) bool { return p.g.Reports.has(wordOf(it)) }))
}

// wordOf returns a word in lower case, or nothing for what is none.
func wordOf(it item) string {
	if !isWordItem(it) {
		return ""
	}
	return strings.ToLower(it.folded)
}
