package language

import (
	"slices"
	"strings"
	"unicode"
)

// A tongue is a language other than English, of which little is understood:
// plain orders, and nothing else. A sentence with an unknown word asks for
// nothing, so a word that is missing here costs a question.
type tongue struct {
	// Verbs maps a meaning in English to the orders with this meaning, such as «schicke». In
	// «lade+ein», the second part of the verb is at the end of the clause.
	Verbs map[string][]string
	// Infinitives are the same verbs behind an opener. Final says that they are at
	// the end of the sentence.
	Infinitives map[string][]string
	Final       bool
	Openers     []string
	// Reads are orders that change nothing. Leads are words that may come before the
	// verb, with what belongs to them.
	Reads, Leads set
	// To, Loose and Away say what the value behind them is, as in English.
	To, Loose, Away set
	// Fillers may come before an order. Small words may be anywhere in it.
	Fillers, Joints set
	Small, Nouns    set
	// Days are words behind which a number is that of a day.
	Days set
	// Bars are words that look like a name or a noun but are for days, hours or
	// conditions. A sentence with one of them is not understood.
	Bars set
	// Named are words for things that have their name right beside them.
	Named set
	// Denies are words that say no in every sentence. DeniesToo say no only in a
	// sentence of this language.
	Denies    set
	DeniesToo set `yaml:"deniesToo"`
	// Marks are words by which a sentence is known not to be English.
	Marks, Assents set
	AssentsWith    set `yaml:"assentsWith"`
	Months         months

	senses, finals map[string][]sense
	longest        int // characters of the longest Chinese word; 0 if there is none
}

// A sense is what a form of a verb means.
type sense struct {
	means    string
	particle string // what must end the clause
}

// prepare makes the words ready to be looked up.
func (t *tongue) prepare() {
	t.senses, t.finals = sensesOf(t.Verbs), sensesOf(t.Infinitives)
	for _, words := range t.all() {
		for w := range words {
			if r := []rune(w); unicode.Is(unicode.Han, r[0]) {
				t.longest = max(t.longest, len(r))
			}
		}
	}
	for w := range t.senses {
		if r := []rune(w); unicode.Is(unicode.Han, r[0]) {
			t.longest = max(t.longest, len(r))
		}
	}
}

func sensesOf(verbs map[string][]string) map[string][]sense {
	out := map[string][]sense{}
	for means, forms := range verbs {
		for _, form := range forms {
			word, particle, _ := strings.Cut(form, "+")
			out[word] = append(out[word], sense{means, particle})
		}
	}
	return out
}

func (t *tongue) all() []set {
	return []set{t.Reads, t.Leads, t.To, t.Loose, t.Away, t.Fillers, t.Joints, t.Small, t.Nouns, t.Denies, t.DeniesToo, t.Assents, t.AssentsWith}
}

// knows reports whether a word may be anywhere in an order.
func (t *tongue) knows(word string) bool {
	return t.role(word) || t.Small.has(word) || t.Nouns.has(word)
}

// role reports whether a word says what the value behind it is.
func (t *tongue) role(word string) bool {
	return t.To.has(word) || t.Loose.has(word) || t.Away.has(word)
}

// plainWord returns a word in the form of the lists; empty for what is no word. It
// keeps accents, because in Spanish they distinguish an order from a report.
func plainWord(it item) string {
	if !isWordItem(it) {
		return ""
	}
	return strings.ToLower(it.raw)
}

func isHan(it item) bool {
	for _, r := range it.raw {
		return unicode.Is(unicode.Han, r)
	}
	return false
}

// denied reports whether anything in a message says no, in any language: strong by
// one of [tongue.Denies], weak by one of [tongue.DeniesToo] or in English.
func (l *Lexicon) denied(items []item) (strong, weak bool) {
	for _, t := range l.tongues() {
		for _, it := range t.segment(items) {
			word := plainWord(it)
			strong, weak = strong || t.Denies.has(word), weak || t.DeniesToo.has(word)
		}
	}
	return strong, weak || l.grammar().negated(items, nil)
}

// segment joins characters that are written without blanks into known words,
// each as long as it can be. What is not known stays a character.
func (t *tongue) segment(items []item) []item {
	if t.longest == 0 || !slices.ContainsFunc(items, isHan) {
		return items
	}
	known := func(word string) bool {
		return len(t.senses[word]) > 0 || slices.ContainsFunc(t.all(), func(s set) bool { return s.has(word) })
	}
	var out []item
	for i := 0; i < len(items); {
		n := 1
		if isHan(items[i]) && !items[i].inner {
			word := items[i].raw
			for k := i + 1; k < len(items) && k-i < t.longest && isHan(items[k]) && !items[k].inner && items[k].Start == items[k-1].End; k++ {
				if word += items[k].raw; known(word) {
					n = k - i + 1
				}
			}
		}
		it := items[i]
		for _, more := range items[i+1 : i+n] {
			it.raw, it.Folded, it.End = it.raw+more.raw, it.Folded+more.Folded, more.End
		}
		out = append(out, it)
		i += n
	}
	return out
}

// assents reports whether a message says yes and nothing else.
func (t *tongue) assents(text string, items []item) bool {
	yes := false
	for _, it := range t.segment(items) {
		word := plainWord(it)
		if !t.Assents.has(word) && !t.AssentsWith.has(word) {
			return false
		}
		yes = yes || t.Assents.has(word)
	}
	return yes && !strings.ContainsAny(text, "?？")
}
