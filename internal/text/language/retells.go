package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// The limits on a text made of the owner's words.
const (
	minRetold = 2  // words of the owner's own that it must have
	maxRetold = 64 // words in all
)

// Retells reports whether a text is made only of the owner's words and of small
// words that say nothing by themselves: «reply that you've seen my mug in the
// kitchen» and «Hi Ann, I've seen your mug in the kitchen». So the text has no word
// or number of others, and nothing that denies what the owner said.
func (l *Lexicon) Retells(said []string, text string) bool {
	his, small := set{}, l.grammar().Retells
	for _, s := range said {
		for _, it := range readItems(typed(s)) {
			if !it.inner && it.Kind != tokens.Quoted || it.inner && isWord(it) {
				his[retold(it)] = struct{}{}
			}
		}
	}
	words, own := 0, 0
	for _, it := range readItems(text) {
		if it.Kind == tokens.Quoted {
			continue
		}
		if words++; words > maxRetold {
			return false
		}
		word := retold(it)
		ok := his.has(word)
		switch {
		case ok && !small.has(word):
			own++
		case !ok && !(isWord(it) && small.has(word)):
			return false
		}
	}
	return own >= minRetold
}

func isWord(it item) bool { return it.Kind == tokens.Word || it.Kind == tokens.Name }

// retold returns a token in the form in which it is compared, without an «@» before
// a name.
func retold(it item) string {
	if isWord(it) {
		return strings.ToLower(it.Folded)
	}
	return strings.ToLower(strings.TrimPrefix(it.raw, "@"))
}
