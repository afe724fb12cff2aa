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

// distance counts the letters to add, drop, change or swap with a neighbour to
// get from a to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
