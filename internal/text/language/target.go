package language

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// HasAsTarget reports whether the clause states a value as a target, to which
// something goes. In «forward the complaint from A to B» A is stated, but only B
// is a target.
func (r *Request) HasAsTarget(value string, kind hook.LeafKind, role string) bool {
	if !r.Has(value, kind, role) {
		return false
	}
	if kind == hook.Null || kind == hook.Bool || value == "" {
		return true
	}
	weak := false
	for _, s := range r.find(value) {
		switch r.aimOf(s) {
		case aimed:
			return true
		case maybeAimed:
			weak = true
		case notAimed:
		}
	}
	return weak && !r.aimsElsewhere(value)
}

// HasAsAmount reports whether the clause states a number as an amount, and not as
// what an amount is taken from or compared with: «50 of the 9000».
func (r *Request) HasAsAmount(value string, kind hook.LeafKind, role string) bool {
	if !r.Has(value, kind, role) {
		return false
	}
	spans := r.find(value)
	if r.tongue != nil {
		return slices.ContainsFunc(spans, func(s span) bool { return r.plainAmount(s.from) })
	}
	return len(spans) == 0 || slices.ContainsFunc(spans, func(s span) bool { return r.isAmount(s.from) })
}

// aimOf returns the aim of a value in the language of the clause.
func (r *Request) aimOf(s span) aim {
	if r.tongue != nil {
		return r.plainAim(s)
	}
	return r.aim(s)
}

// An aim says whether something goes to a value.
type aim uint8

const (
	notAimed   aim = iota
	maybeAimed     // unless the clause says more clearly where it goes
	aimed
)

// A span is the items of one value.
type span struct{ from, to int }

// find returns the places of a value in the clause.
func (r *Request) find(value string) []span {
	var found []span
	plain, isNumber := tokens.AsNumber(value)
	kind := tokens.Path
	if p, ok := tokens.WholePiece(value); ok {
		kind = p.Kind
	}
	want := strictToken(kind, value)
	words := strings.Fields(value)
	for i, it := range r.items {
		switch {
		case it.inner:
		case it.Kind == tokens.Quoted:
			if it.raw == value {
				found = append(found, span{i, i + 1})
			}
		case !it.clean:
		case isWordItem(it):
			if n := len(words); !isNumber && i+n <= len(r.items) && spells(r.items[i:i+n], words) {
				found = append(found, span{i, i + n})
			}
		case isNumber && (it.Kind == tokens.Number || it.Kind == tokens.ID):
			if have, _, ok := tokens.PlainNumber(strings.TrimPrefix(it.raw, "#")); ok && have == plain {
				found = append(found, span{i, i + 1})
			}
		case strictToken(it.Kind, it.raw) == want:
			found = append(found, span{i, i + 1})
		}
	}
	return found
}

func spells(items []item, words []string) bool {
	for i, w := range words {
		if items[i].inner || items[i].raw != w || i > 0 && items[i].apart {
			return false
		}
	}
	return true
}

// aim looks back from a value for a word that says whether something goes to the
// value. The nearest such word decides.
func (r *Request) aim(s span) aim {
	if r.possessive(s.to-1) && !r.ownsTarget(s.to) {
		return notAimed
	}
	plain := true // since the last comma or «and», nothing but names
	listed := false
	words := 0
	for j := s.from - 1; j >= 0 && words <= maxBetween; j-- {
		it, next := r.items[j], r.items[j+1]
		switch {
		case it.inner || it.End > next.Start: // the quotes around it
			continue
		case next.sentence, next.label && !isWordItem(it):
			return notAimed
		case next.apart && !next.label && !r.bracket(j):
			listed = true
			if !plain {
				return notAimed
			}
		}
		word := wordOf(it)
		if slices.Contains(r.verbs, j) {
			if !r.g.RelatesTo.has(word) && r.isSent(s.to) {
				return notAimed
			}
			return r.direct(s, listed)
		}
		switch kind := r.g.relation(word); {
		case next.label:
			return r.called(j)
		case word == "" || it.Kind == tokens.Name && kind == relatesNothing:
		case word == "and" || word == "or":
			listed = true
			if !plain {
				return notAimed
			}
		case kind == relatesAway || word == "that" && !r.points(j):
			return notAimed
		case listed && !r.endsList(s.to):
			return notAimed
		case kind == relatesTo:
			if r.g.Asks.has(wordOf(next)) {
				return notAimed // «to send», and what is sent
			}
			return r.outer(j, aimed)
		case kind == relatesLoosely:
			return r.outer(j, maybeAimed)
		case word == "is" || word == "are" || word == "be":
			return r.called(j)
		case word == "at" || r.g.Determiners.has(word):
		default:
			plain = plain && listed
			words++
		}
	}
	return notAimed
}

// maxBetween bounds the words between a value and what says its role: «to my
// old friend from school»
const maxBetween = 6

// direct returns the aim of a value right behind the verb. «email A the plan» is for
// A, but not «forward A's mail to B» and «forward the A mail to B».
func (r *Request) direct(s span, listed bool) aim {
	switch {
	case r.possessive(s.to - 1):
		return notAimed
	case listed && !r.endsList(s.to):
		return notAimed
	case !r.endsList(s.to):
		return maybeAimed
	}
	return aimed
}

// isSent reports whether the values behind the verb are what is sent rather than
// who gets it: «send A and B to the trash», but «email A to ask».
func (r *Request) isSent(at int) bool {
	for at < len(r.items) && (!isWordItem(r.items[at]) || r.items[at].Kind == tokens.Name || wordOf(r.items[at]) == "and" || wordOf(r.items[at]) == "or") {
		at++
	}
	return at+1 < len(r.items) && wordOf(r.items[at]) == "to" && !r.g.Asks.has(wordOf(r.items[at+1]))
}

// outer returns the aim a of a value behind a preposition. It returns notAimed if
// the preposition belongs to something in the clause that the agent does not do:
// «what Ann shared with Bob», «the mail I sent to Bob», «tell Ann to write to Bob»,
// but not «what you find to Bob».
func (r *Request) outer(j int, a aim) aim {
	about := false
	for i := j - 1; i >= 0 && !r.items[i+1].sentence && !slices.Contains(r.verbs, i); i-- {
		word := wordOf(r.items[i])
		switch {
		case r.items[i+1].label, r.g.Past.has(word), i == j-1 && strings.HasSuffix(word, "ed"):
			return notAimed
		case r.g.OpensClause.has(word) && wordOf(r.items[i+1]) != "you", word == "that" && !r.points(i):
			return notAimed
		case r.g.Asks.has(word) && i > 0 && !r.items[i].apart && r.g.verbAt(r.items, i) && wordOf(r.items[i-1]) != "you":
			return notAimed
		case about && word == "to":
			return notAimed // «to Ann about the mail to Bob»
		case word == "about" || word == "regarding" || word == "concerning":
			about = true
		}
	}
	return a
}

// called returns the aim of a value that is said to be an address: «her address is
// A», «recipient: A».
func (r *Request) called(j int) aim {
	for ; j >= 0; j-- {
		switch word := wordOf(r.items[j]); {
		case r.g.CalledIs.has(word):
		case r.g.CalledTo.has(word):
			return aimed
		case r.g.CalledAddress.has(word):
			return maybeAimed
		default:
			return notAimed
		}
	}
	return notAimed
}

// aimsElsewhere reports whether the clause says clearly that something goes to
// another value.
func (r *Request) aimsElsewhere(value string) bool {
	for i, it := range r.items {
		if it.inner || it.raw == value || it.Kind == tokens.Word || it.Kind == tokens.Number {
			continue
		}
		if r.tongue != nil {
			with := it.Kind == tokens.Name && i+2 < len(r.items) && r.tongue.Loose.has(plainWord(r.items[i+1])) && r.items[i+2].raw == value
			if !with && !r.tongue.Nouns.has(plainWord(it)) && r.plainAim(span{i, i + 1}) == aimed {
				return true
			}
			continue
		}
		j := i - 1
		for j >= 0 && (r.items[j].End > it.Start || r.g.Determiners.has(wordOf(r.items[j]))) {
			j--
		}
		if j >= 0 && wordOf(r.items[j]) == "to" && !slices.Contains(r.verbs, i) {
			return true
		}
	}
	return false
}

// isAmount reports whether no word before a number says that the number is something other than an
// amount.
func (r *Request) isAmount(i int) bool {
	for j := i - 1; j >= max(0, i-4) && !r.items[j+1].sentence; j-- {
		switch word := wordOf(r.items[j]); {
		case r.g.NotAmount.has(word):
			return false
		case word == "of":
			if j > 0 && (wordOf(r.items[j-1]) == "" || wordOf(r.items[j-1]) == "out" || tokens.IsCurrency(wordOf(r.items[j-1]))) {
				return false
			}
		}
		if slices.Contains(r.verbs, j) {
			return true
		}
	}
	return true
}

// possessive reports whether «'s» follows an item.
func (r *Request) possessive(i int) bool {
	rest := r.text[r.items[i].End:]
	return strings.HasPrefix(rest, "'s") || strings.HasPrefix(rest, "’s")
}

// ownsTarget reports whether something that goes to the thing at an item goes to the
// owner of that thing: «Bob's inbox».
func (r *Request) ownsTarget(i int) bool {
	return i < len(r.items) && r.g.OwnsTarget.has(wordOf(r.items[i]))
}

// bracket reports whether nothing but a bracket parts an item from the next:
// «Bob (their address)».
func (r *Request) bracket(j int) bool {
	between := strings.TrimSpace(r.text[r.items[j].End:r.items[j+1].Start])
	return strings.Trim(between, "(<[)>]\"'`“”«»‘’*") == ""
}

// points reports whether «that» points at something instead of opening a
// clause: «send that to Bob».
func (r *Request) points(j int) bool {
	return j == 0 || slices.Contains(r.verbs, j-1) || r.g.relation(wordOf(r.items[j-1])) >= relatesLoosely
}

// endsList reports whether the item behind a value lets the value be the last of a list. In «to A,
// B wrote it» B is not, because it is the subject of something else.
func (r *Request) endsList(i int) bool {
	if i >= len(r.items) || r.items[i].apart || r.items[i].inner || !isWordItem(r.items[i]) || slices.Contains(r.verbs, i) {
		return true
	}
	word := wordOf(r.items[i])
	return r.g.EndsList.has(word) || r.g.Determiners.has(word) || r.g.relation(word) >= relatesLoosely
}

// A relating says what a word makes of the value behind it.
type relating uint8

const (
	relatesNothing relating = iota
	relatesAway             // something comes from the value, or is about it
	relatesLoosely
	relatesTo
)

func (g *grammar) relation(word string) relating {
	switch {
	case g.RelatesTo.has(word):
		return relatesTo
	case g.RelatesLoosely.has(word):
		return relatesLoosely
	case g.RelatesAway.has(word):
		return relatesAway
	}
	return relatesNothing
}
