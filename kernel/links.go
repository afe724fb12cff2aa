package kernel

import (
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// inert rewrites links that a reader's program would load by itself (Markdown
// images, HTML img and the like) unless the owner stated them: a picture's
// address can carry away what the model has read.
func (st *step) inert(text string) (string, bool) {
	if st.mark.Trust >= floodmark.Local {
		return text, false
	}
	out, one := st.inertMarkdown(text)
	out, two := st.inertHTML(out)
	return out, one || two
}

// inertMarkdown turns ![alt](url) into words.
func (st *step) inertMarkdown(text string) (string, bool) {
	var b strings.Builder
	changed := false
	for {
		i := strings.Index(text, "![")
		if i < 0 {
			break
		}
		mid := strings.Index(text[i:], "](")
		if mid < 0 {
			// A reference-style image: the brackets alone may load.
			b.WriteString(text[:i] + "[")
			text, changed = text[i+2:], true
			continue
		}
		end := strings.IndexByte(text[i+mid:], ')')
		if end < 0 {
			end = len(text) - i - mid - 1
		}
		alt, link := text[i+2:i+mid], text[i+mid+2:i+mid+end]
		b.WriteString(text[:i])
		if st.statedLink(link) {
			b.WriteString(text[i : i+mid+end+1])
		} else {
			b.WriteString(alt + " [picture not loaded]")
			changed = true
		}
		text = text[i+mid+end+1:]
	}
	b.WriteString(text)
	return b.String(), changed
}

// loading are the HTML elements that fetch something when they are shown.
func loading() []string {
	return []string{"<img", "<iframe", "<link", "<script", "<video", "<audio", "<source", "<embed", "<object", "<svg", "<style", "<input", "<body", "<table", "<meta", "<base"}
}

// inertHTML shows elements that load something as text.
func (st *step) inertHTML(text string) (string, bool) {
	var b strings.Builder
	from, changed := 0, false
	for i := range len(text) {
		if text[i] != '<' {
			continue
		}
		for _, tag := range loading() {
			if len(text)-i >= len(tag) && strings.EqualFold(text[i:i+len(tag)], tag) {
				b.WriteString(text[from:i] + "&lt;")
				from, changed = i+1, true
				break
			}
		}
	}
	b.WriteString(text[from:])
	return b.String(), changed
}

func (st *step) statedLink(link string) bool {
	link, _, _ = strings.Cut(strings.TrimSpace(link), " ")
	return link != "" && st.s.stated.Has(strings.Trim(link, "<>"), hook.String, "url")
}
