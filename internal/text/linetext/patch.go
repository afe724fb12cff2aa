package linetext

import (
	"fmt"
	"strings"
)

// patchContext is how many equal lines a patch shows around a change.
const patchContext = 3

// Patch returns the difference between two texts of a file in the form that «patch» and «git apply»
// read. If the file did not exist (there is false), the old side is /dev/null.
func Patch(name, old, now string, there bool) string {
	if old == now {
		return ""
	}
	a, b := strings.SplitAfter(old, "\n"), strings.SplitAfter(now, "\n")
	a, b = withoutEmptyEnd(a), withoutEmptyEnd(b)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, until := max(0, head-patchContext), min(patchContext, tail)
	var out strings.Builder
	source := "a/" + name
	if !there {
		source = "/dev/null"
	}
	first := func(lines int) int {
		if lines == 0 {
			return from
		}
		return from + 1
	}
	oldLines, newLines := len(a)-tail+until-from, len(b)-tail+until-from
	fmt.Fprintf(&out, "--- %s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n", source, name, first(oldLines), oldLines, first(newLines), newLines)
	write := func(sign string, lines []string) {
		for _, l := range lines {
			out.WriteString(sign + l)
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:head])
	for _, l := range middle(a[head:len(a)-tail], b[head:len(b)-tail]) {
		write(l[:1], []string{l[2:]})
	}
	write(" ", a[len(a)-tail:len(a)-tail+until])
	return out.String()
}

func withoutEmptyEnd(lines []string) []string {
	if n := len(lines); n > 0 && lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}
