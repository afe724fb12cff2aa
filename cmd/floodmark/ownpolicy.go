package main

import (
	"fmt"
	"strings"
)

// An ownPolicy is the owner's policy as it lies there.
type ownPolicy struct {
	path, name, text string
	there, unread    bool
}

// withLine puts a line, and a comment above it, into the text of a policy, below
// a key; everything else stays as it is, byte for byte. It fails where the key's
// value stands on the key's own line: that is for a person to change. Nothing but
// blanks counts as no policy yet.
func withLine(text, key, line, comment string) (string, bool) {
	if strings.TrimSpace(text) == "" {
		text = "version: 1\n"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // behind the last line break stands nothing
	at := -1
	for i, l := range lines {
		if strings.HasPrefix(l, key+":") {
			at = i
		}
	}
	put := func(indent string) []string {
		var list []string
		for _, l := range []string{comment, line} {
			if l != "" {
				list = append(list, indent+l+"\n")
			}
		}
		return list
	}
	if at < 0 {
		return text + key + ":\n" + strings.Join(put("  "), ""), true
	}
	if rest, _, _ := strings.Cut(lines[at][len(key)+1:], "#"); strings.TrimSpace(rest) != "" {
		return text, false
	}
	last, indent := at, ""
	for i := at + 1; i < len(lines); i++ {
		body := strings.TrimLeft(lines[i], " ")
		own := strings.TrimSpace(body) != "" && body[0] != '#'
		if own && len(body) == len(lines[i]) && !strings.HasPrefix(body, "- ") {
			break // the next key
		}
		if own {
			if last == at {
				indent = lines[i][:len(lines[i])-len(body)]
			}
			last = i
		}
	}
	if last == at {
		indent = "  "
	}
	return strings.Join(lines[:last+1], "") + strings.Join(put(indent), "") + strings.Join(lines[last+1:], ""), true
}

// patchContext is how many lines stand around a change in a patch.
const patchContext = 3

// patch is the difference between two texts of a file, as «patch» and «git
// apply» read it. A text that was not there comes from /dev/null.
func patch(name, old, now string, there bool) string {
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
