// Package inert rewrites text so that the program that displays it fetches and runs nothing before
// a person clicks.
package inert

import (
	"slices"
	"strings"
)

// How far the ends of a picture and of an element are searched, in bytes.
const (
	maxPicture = 2048
	maxTag     = 4096
)

// Text rewrites Markdown pictures, except those whose address was stated, and HTML that fetches
// something.
func Text(text string, stated func(link string) bool) string { return html(markdown(text, stated)) }

// Acts reports whether text has signs of something that a program loads or runs: elements,
// pictures, active schemes such as «javascript:», or commands.
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

// markdown turns every picture into a link that has to be clicked, by removing the exclamation
// marks before its bracket. This includes nested pictures and those written by reference.
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

// statedPicture returns the length of a plain picture at the beginning of text if its address was
// stated, and else 0.
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

// html turns elements that may load something into text: certain elements, every element with an
// attribute, and every element whose end is not found. «List<String>» has no attribute and stays.
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

// loads reports whether the text after a «<» is an element that may load something.
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
