package language

import (
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// The limits on what the owner's words may be the name of.
const (
	maxTitleWords = 6
	maxTitles     = 256
	maxTitle      = 128 // as long as a field of a record may be
)

// Titles returns all names that a message may use for something: every quoted
// string, and every run of up to six words that neither begins nor ends with a
// common word and has one that is not plain, see [hasName]. Plain words are in every
// message, so an attacker could give a record a name made of them. Longer runs come
// before the shorter ones inside them.
func (l *Lexicon) Titles(text string) []string {
	text = typed(text)
	items := readItems(text)
	capitals := !l.notEnglish(items)
	var titles []string
	add := func(title string) {
		if len(titles) < maxTitles && title != "" && len(title) <= maxTitle {
			titles = append(titles, title)
		}
	}
	for i, it := range items {
		switch {
		case it.inner:
		case it.Kind == tokens.Quoted:
			add(it.raw)
		case titleEdge(it):
			end := i + 1
			for end < len(items) && end-i < maxTitleWords && !items[end].apart && !items[end].inner && items[end].Kind != tokens.Quoted {
				end++
			}
			for ; end > i; end-- {
				if titleEdge(items[end-1]) && (end-i > 1 || len(it.raw) >= shortTitle) && hasName(items, i, end, capitals) {
					add(text[it.Start:items[end-1].End])
				}
			}
		}
	}
	return titles
}

// shortTitle is the length of the shortest single word that is a title.
const shortTitle = 4

// titleEdge reports whether a title may begin or end with a word.
func titleEdge(it item) bool {
	return it.clean && (!isWordItem(it) || !tokens.Common(strings.ToLower(it.Folded)))
}

// hasName reports whether one of the items from i to end is no plain word: a
// number, the name of a file, or a word with a capital letter inside a sentence.
// capitals is false for a message that is not all English: a capital letter says
// nothing there, because in German every noun has one.
func hasName(items []item, i, end int, capitals bool) bool {
	for k := i; k < end; k++ {
		if it := items[k]; it.Kind != tokens.Word && (it.Kind != tokens.Name || capitals && k > 0 && !it.sentence) {
			return true
		}
	}
	return false
}

// Called returns what a clause calls by a name: words with a capital letter that
// begin no sentence, and what it has in quotes.
func (r *Request) Called() []string { return r.calledFrom(0) }

// calledFrom is Called for the items from this one on.
func (r *Request) calledFrom(from int) []string {
	var names []string
	for i, it := range r.items {
		if i < from {
			continue
		}
		name := it.Kind == tokens.Name && i > 0 && !it.sentence && !tokens.Common(strings.ToLower(it.Folded)) && r.g.Months.of(strings.ToLower(it.Folded)) == 0
		if !it.inner && (name || it.Kind == tokens.Quoted) {
			names = append(names, it.raw)
		}
	}
	return names
}

// maxWords bounds the words of one message that are looked up.
const maxWords = 512

// Words returns the tokens of a message and what it has in quotes, each as it
// was typed, and whether these are all.
func Words(text string) (words []string, all bool) {
	for _, it := range readItems(typed(text)) {
		if it.inner {
			continue
		}
		if len(words) == maxWords {
			return words, false
		}
		words = append(words, it.raw)
	}
	return words, true
}

// minWordLike is how long a word must be to match the words that begin with it.
const minWordLike = 4

// WordsLike returns the owner's words that are this word or, if it is not short, begin with it.
func (s *Stated) WordsLike(word string) []string {
	var list []string
	for _, have := range slices.Sorted(maps.Keys(s.words)) {
		if have == word || len(word) >= minWordLike && strings.HasPrefix(have, word) {
			list = append(list, have)
		}
	}
	return list
}

// HasWordLike reports whether the owner used a word or, if it is not short, one
// that begins with it: «repositories» for «repo».
func (s *Stated) HasWordLike(word string) bool {
	return len(s.WordsLike(word)) > 0 || s.HasWord(word+"s")
}

// Beginnings returns the words with which a name begins, as the clause says: «the
// channel starting with Garden».
func (r *Request) Beginnings() []string {
	var starts []string
	for i := 0; i+2 < len(r.items); i++ {
		if next := r.items[i+2]; r.g.BeginsWith.has(wordOf(r.items[i])) && wordOf(r.items[i+1]) == "with" && !r.items[i+1].apart && (next.Kind == tokens.Quoted || next.clean && !next.apart) {
			starts = append(starts, next.raw)
		}
	}
	return starts
}

// A Reading is what a clause says about links to read: who posted the links, or
// where.
type Reading struct {
	Names []string // the names behind «article», «website»: of people, channels
	One   bool     // it speaks of a single link
}

// Reads returns which links the clause asks to read: «summarise the article that
// Ann posted in "garden"». It returns false if the clause does not say that somebody
// posted the link.
func (r *Request) Reads() (Reading, bool) {
	if !r.Licenses(r.g.Reading) {
		return Reading{}, false
	}
	for i, it := range r.items {
		word := wordOf(it)
		one := r.g.LinkNouns.has(word)
		if !one && !r.g.LinkNouns.has(strings.TrimSuffix(word, "s")) {
			continue
		}
		for k := i + 1; k < len(r.items) && !r.items[k].sentence; k++ {
			if r.g.Posted.has(wordOf(r.items[k])) {
				return Reading{Names: r.calledFrom(i + 1), One: one && !r.each(i)}, true
			}
		}
	}
	return Reading{}, false
}

// each reports whether the word before an item says that there may be several, as in «every link».
func (r *Request) each(i int) bool {
	return i > 0 && (wordOf(r.items[i-1]) == "every" || wordOf(r.items[i-1]) == "each" || wordOf(r.items[i-1]) == "any")
}
