// Package inert keeps text from being loaded: it knows what a reader's program fetches
// or runs by itself, and rewrites it so that nothing happens before a click.
package inert

import (
	"slices"
	"strings"
)

// The limits of how far the end of a picture and of an element are looked for.
const (
	maxPicture = 2048
	maxTag     = 4096
)

// Text rewrites Markdown pictures and HTML that fetches something, but for pictures
// whose address was stated.
func Text(text string, stated func(link string) bool) string { return html(markdown(text, stated)) }

// Acts reports whether text has the marks of something a program loads or
// runs: elements, pictures, schemes that are not links to places, commands.
func Acts(text string) bool {
	lower := strings.ToLower(text)
	for _, sign := range []string{
		"![", "](", "javascript:", "data:", "vbscript:", "&#", "\x60", "$(", "<(", "| sh", "|sh", "| bash", "|bash",
		"curl ", "wget ", "powershell", "sudo ",
	} {
		if strings.Contains(lower, sign) {
			return true
		}
	}
	for i := range len(text) {
		if text[i] == '<' && loads(text[i+1:min(len(text), i+maxTag)]) {
			return true
		}
		if strings.HasPrefix(text[i:], "//") && (i == 0 || strings.IndexByte(" \t\n\"'=(>", text[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// markdown turns every picture into a link that has to be clicked, by
// taking every exclamation mark before its bracket. Whatever is nested or written
// by reference is no picture any more either.
func markdown(text string, stated func(link string) bool) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "![")
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		if n := statedPicture(text[i:], stated); n > 0 {
			b.WriteString(text[:i+n])
			text = text[i+n:]
			continue
		}
		b.WriteString(strings.TrimRight(text[:i], "!") + "[")
		text = text[i+2:]
	}
}

// statedPicture returns the length of a plain picture that was stated.
func statedPicture(text string, stated func(link string) bool) int {
	text = text[:min(len(text), maxPicture)]
	mid := strings.Index(text, "](")
	if mid < 0 || strings.ContainsAny(text[2:mid], "[]!") {
		return 0
	}
	end := strings.IndexByte(text[mid:], ')')
	if end < 0 {
		return 0
	}
	link, _, _ := strings.Cut(strings.TrimSpace(text[mid+2:mid+end]), " ")
	link = strings.Trim(link, "<>")
	if link == "" || !stated(link) {
		return 0
	}
	return mid + end + 1
}

// html shows elements that load something as text: those that always do,
// all that have an attribute, and all whose end is not found. «List<String>» has
// no attribute.
func html(text string) string {
	var b strings.Builder
	from := 0
	for i := range len(text) {
		if text[i] == '<' && loads(text[i+1:min(len(text), i+maxTag)]) {
			b.WriteString(text[from:i] + "&lt;")
			from = i + 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// loads reports whether what follows a «<» is an element that fetches.
func loads(rest string) bool {
	name := 0
	for name < len(rest) && (rest[name]|0x20 >= 'a' && rest[name]|0x20 <= 'z' || name > 0 && rest[name] >= '0' && rest[name] <= '9') {
		name++
	}
	if name == 0 {
		return strings.HasPrefix(rest, "!")
	}
	if slices.Contains([]string{"style", "script", "svg", "link", "base", "meta", "object", "embed", "iframe", "frame"}, strings.ToLower(rest[:name])) {
		return true
	}
	end := strings.IndexByte(rest, '>')
	return end < name || strings.ContainsAny(rest[name:end], "=(")
}
