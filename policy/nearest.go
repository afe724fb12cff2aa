package policy

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/spelling"
)

// nearest returns the word a person most likely meant, if any is near.
func nearest(got string, words []string) (string, bool) {
	folded := fold(got)
	if meant, ok := spelling.Meant(folded); ok && slices.Contains(words, meant) {
		return meant, true
	}
	best, least := "", 1+max(2, len(folded)/3)
	for _, w := range words {
		if d := spelling.Edits(folded, fold(w)); d < least {
			best, least = w, d
		}
	}
	return best, best != "" && least < len(folded)
}

// fold forgets case and the signs between words.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// oneOf lists words for a hint.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
