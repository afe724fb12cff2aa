package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// minRunWords is how many words a text must have to be a quotation. Fewer words are
// found in any message by chance.
const minRunWords = 2

// Quotes reports whether a text is, word for word, a part of what the owner
// wrote, so that it has no words by others.
func Quotes(said []string, text string) bool {
	want := strings.Trim(tokens.Normalise(text), " .,;:!?\"'`")
	if len(strings.Fields(want)) < minRunWords || len(want) > maxStatedBytes {
		return false
	}
	for _, s := range said {
		have := tokens.Normalise(typed(s))
		for from := 0; ; {
			at := strings.Index(have[from:], want)
			if at < 0 {
				break
			}
			start, end := from+at, from+at+len(want)
			if edge(have, start-1) && edge(have, end) {
				return true
			}
			from = start + 1
		}
	}
	return false
}

// edge reports whether the byte at an offset of normalised text is no part of a word.
func edge(text string, at int) bool {
	return at < 0 || at >= len(text) || text[at] < 0x80 && !tokens.IsAlnum(text[at])
}
