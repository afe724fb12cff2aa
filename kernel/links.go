package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// inert rewrites links that a reader's program would load by itself (Markdown
// pictures, HTML that fetches something) unless the owner stated them: a
// picture's address can carry away what the model has read. It reports whether
// there was something to rewrite.
func (st *step) inert(text string) (string, bool) {
	if st.mark.Trust >= floodmark.Local {
		return "", false
	}
	out := st.inertHTML(st.inertMarkdown(text))
	return out, out != text
}

// maxPicture bounds how far the end of a picture is looked for.
const maxPicture = 2048

// inertMarkdown turns every picture into a link that has to be clicked, by
// taking its exclamation mark. Whatever is nested or written by reference is
// no picture any more either.
func (st *step) inertMarkdown(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "![")
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		if n := st.statedPicture(text[i:]); n > 0 {
			b.WriteString(text[i : i+n])
			text = text[i+n:]
			continue
		}
		b.WriteString("[")
		text = text[i+2:]
	}
}

// statedPicture returns the length of a plain picture the owner stated.
func (st *step) statedPicture(text string) int {
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
	if link == "" || !st.s.stated.Has(link, hook.String, "url") {
		return 0
	}
	return mid + end + 1
}

// maxTag bounds how far the end of an element is looked for.
const maxTag = 4096

// inertHTML shows elements that load something as text: those that always do,
// and all that have an attribute. «List<String>» has none.
func (st *step) inertHTML(text string) string {
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
	if end < 0 {
		end = len(rest)
	}
	return strings.ContainsAny(rest[name:max(name, end)], "=(")
}
