// Package spelling finds the word that a mistyped one was meant to be.
package spelling

// Edits returns how many letters must be added, removed or changed to get from a to b. For words of
// more than 64 letters it returns 64.
func Edits(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return longest
	}
	return count(a, b, false)
}

// EditsOrSwaps returns how many letters must be added, removed, changed or swapped with a neighbour
// to get from a to b.
func EditsOrSwaps(a, b string) int { return count(a, b, true) }

func count(a, b string, swaps bool) int {
	above, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+change)
			if swaps && i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], above[j-2]+1)
			}
		}
		above, row, next = row, next, above
	}
	return row[len(b)]
}
