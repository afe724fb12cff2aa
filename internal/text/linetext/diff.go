package linetext

import (
	"slices"
	"strings"
)

// The limits of a diff. Of texts with more than maxDiffLines different lines, only equal lines at
// both ends are matched. diffContext equal lines are shown around a difference.
const (
	maxDiffLines = 2000
	diffContext  = 2
)

// Diff compares two texts line by line. Each line of the result begins with
// «-» (only in want), «+» (only in got), « » (in both) or «@» (lines left out).
func Diff(want, got string) []string {
	a, b := lines(want), lines(got)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var all []string
	all = mark(all, " ", a[:head])
	all = append(all, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	all = mark(all, " ", a[len(a)-tail:])
	return near(all)
}

func lines(text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func mark(list []string, sign string, lines []string) []string {
	for _, l := range lines {
		list = append(list, sign+" "+l)
	}
	return list
}

// middle finds the longest common subsequence of two short lists.
func middle(a, b []string) []string {
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return mark(mark(nil, "-", a), "+", b)
	}
	common := make([][]int, len(a)+1) // common[i][j] is the length for a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return mark(mark(out, "-", a[i:]), "+", b[j:])
}

// near keeps the differences and a few lines around each.
func near(all []string) []string {
	var out []string
	left := false
	for i, line := range all {
		keep := false
		for j := max(0, i-diffContext); j <= min(len(all)-1, i+diffContext); j++ {
			keep = keep || all[j][0] != ' '
		}
		switch {
		case keep:
			out = append(out, line)
		case !left:
			out = append(out, "@ …")
		}
		left = !keep
	}
	return out
}
