package provenance

import (
	"slices"
	"strings"
)

// This file holds how an English order is made; its words are in
// words/en.yaml.

// opening returns where the verb of an order must stand, if the phrase is one,
// and whether it must end in «ing». A phrase that goes on from another may
// begin with «to».
func (g *grammar) opening(items []item, goesOn bool) (at int, gerund bool) {
	for at < len(items) {
		n, ing := 1, gerund
		switch word := wordOf(items[at]); {
		case at == 0 && (items[at].kind == Number || items[at].kind == ID): // 1) …
		case at+1 < len(items) && items[at+1].label && g.Headings.has(word):
		case g.Greetings.has(word) && at+2 < len(items) && items[at+1].kind == Name && !items[at+2].apart && !g.Asks.has(wordOf(items[at+1])):
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

// opener returns how many items begin a request that goes on with a verb, and
// whether that ends in «ing».
func (g *grammar) opener(items []item) (n int, gerund bool) {
	for _, words := range g.Openers {
		if n := g.matches(items, words); n > 0 {
			return n, g.GerundOpeners.has(words)
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

// nounAt reports whether a word stands behind one that only a noun follows.
func (g *grammar) nounAt(items []item, i int) bool {
	if i == 0 || items[i].apart {
		return false
	}
	return g.BeforeNoun.has(wordOf(items[i-1]))
}

// verbAt reports whether the plain form of a verb is one where it stands.
func (g *grammar) verbAt(items []item, i int) bool {
	if i == 0 || items[i].apart {
		return true
	}
	word := wordOf(items[i-1])
	return g.BeforeVerb.has(word) || strings.HasSuffix(word, "n't") || items[i-1].kind == Address
}

// isAside reports whether a phrase only says when, why or instead of what.
func (g *grammar) isAside(items []item) bool {
	if len(items) == 0 {
		return false
	}
	second := ""
	if len(items) > 1 {
		second = wordOf(items[1])
	}
	switch first := wordOf(items[0]); first {
	case "if":
		return second != "so" && second != "yes" && second != "possible"
	case "when", "once":
		return second != "done" && second != "finished" && (second != "you" && second != "you're" || !slices.ContainsFunc(items, func(it item) bool { return wordOf(it) == "done" }))
	case "instead":
		return second == "of"
	case "after", "before":
		return second != "that"
	default:
		return g.Asides.has(first)
	}
}

// negated reports whether a phrase says no to anything. The verbs of an order
// are no part of it («stop the server» is one), nor is what is to be said.
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
				i+1 < len(items) && (items[i+1].kind == Number || items[i+1].kind == ID) {
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

// assent returns how many items say yes, and whether they do so by themselves.
func (g *grammar) assent(items []item) (n int, strong bool) {
	for _, words := range g.Assents {
		if n := plainMatch(items, words); n > 0 {
			return n, true
		}
	}
	for _, words := range g.AssentsWith {
		if n := plainMatch(items, words); n > 0 {
			return n, false
		}
	}
	return 0, false
}

func plainMatch(items []item, words string) int {
	n := 0
	for w := range strings.FieldsSeq(words) {
		if n >= len(items) || wordOf(items[n]) != w || n > 0 && items[n].apart {
			return 0
		}
		n++
	}
	return n
}
