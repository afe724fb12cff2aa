package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns at most n words that are similar to a mistyped one, the most similar first. A
// word is similar if at most a third of its letters differ, or if it begins with the mistyped one.
func Nearest(got string, words []string, n int) []string {
	type guess struct {
		word string
		off  int
	}
	var list []guess
	low := strings.ToLower(got)
	for _, w := range words {
		off := EditsOrSwaps(low, strings.ToLower(w))
		if off <= max(1, len(w)/3) || len(low) > 2 && strings.HasPrefix(strings.ToLower(w), low) {
			list = append(list, guess{w, off})
		}
	}
	slices.SortFunc(list, func(a, b guess) int { return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.word, b.word)) })
	var out []string
	for _, g := range list[:min(n, len(list))] {
		out = append(out, g.word)
	}
	return out
}
