package main

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns the words most like a mistyped one, at most n, the best
// first. A word is like another if a third of its letters or fewer differ, or
// if one begins with the other.
func nearest(got string, words []string, n int) []string {
	type guess struct {
		word string
		off  int
	}
	var list []guess
	low := strings.ToLower(got)
	for _, w := range words {
		off := distance(low, strings.ToLower(w))
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

// distance counts the letters to add, drop or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				next = min(next, before)
			} else {
				next = min(next, before+1)
			}
			before, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
