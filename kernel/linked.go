package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// follows notes that a call only reads a link which the owner asked to follow.
// Such a link is whole as somebody put it there, before the agent knew anything,
// so that it carries nothing away but that it was followed; what comes back is
// believed as little as any page. With private data in the context it is asked
// about all the same: which of several links is followed can tell something.
func (st *step) follows(j *judged, tr *provenance.Tracer) {
	if !onlyReads(j.action.Effects) {
		return
	}
	at := -1
	for i, leaf := range j.leaves {
		switch {
		case leaf.Value == "":
		case at >= 0 || argument(j.use, leaf).Is != catalog.IsURL:
			return
		default:
			at = i
		}
	}
	if at >= 0 && st.pointedAt(tr, j.leaves[at].Value, j.action.Arguments[at], false) {
		j.basis.Grounds = append(j.basis.Grounds, floodmark.Ground{Argument: at, By: string(byLinked)})
	}
}

func onlyReads(effects []floodmark.Effect) bool {
	return len(effects) == 1 && effects[0] == floodmark.Fetch
}

// pointedAt reports whether a URL is one of the links that the owner asked to
// read: it stands, whole, in a record of a service of his own that has every
// name he called it by. If he spoke of one link and there are two, nobody can
// tell which he meant, and somebody may have put the other one there. With one
// set only a link of which he spoke as one counts: «all the links posted here»
// asks to read what anybody put there, not to pass it on.
func (st *step) pointedAt(tr *provenance.Tracer, url string, a floodmark.Argument, one bool) bool {
	if a.Whence != floodmark.Seen || a.Pieced || tr.Index == nil {
		return false
	}
	spans := tr.Whole(url)
	if len(spans) == 0 {
		return false
	}
	for _, text := range st.thisTurn() {
		for _, r := range st.requests(text) {
			reading, ok := r.Reads()
			if ok && (reading.One || !one) && st.linksTo(tr, spans, reading) {
				return true
			}
		}
	}
	return false
}

// linksTo reports whether a reading is about a URL that was seen at these
// places. The first of them must be a link it speaks of: whoever brought it in
// earlier, elsewhere, must not have it read by posting it again.
func (st *step) linksTo(tr *provenance.Tracer, spans []floodmark.Span, reading provenance.Reading) bool {
	links := st.linksOf(tr, reading.Names)
	if !slices.ContainsFunc(links, func(l provenance.Link) bool { return l.At == spans[0] }) {
		return false
	}
	return !reading.One || !slices.ContainsFunc(links, func(l provenance.Link) bool { return !slices.Contains(spans, l.At) })
}

// linksOf returns the links in records of the owner's services that have all of
// these names, of which there must be one.
func (st *step) linksOf(tr *provenance.Tracer, names []string) []provenance.Link {
	l := licence{st: st, tr: tr, turn: &provenance.Stated{}}
	links := tr.Links()
	named := false
	for _, name := range names {
		var have []provenance.Record
		for _, field := range slices.Concat(st.r.words.Listed(), st.r.words.Writers()) {
			have = append(have, l.own(tr.Records(field, name))...)
		}
		if len(have) == 0 {
			continue // not what a record is called by
		}
		named = true
		links = slices.DeleteFunc(links, func(l provenance.Link) bool { return !slices.Contains(have, l.Record) })
	}
	if !named {
		return nil
	}
	return links
}

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
// taking every exclamation mark before its bracket. Whatever is nested or written
// by reference is no picture any more either.
func (st *step) inertMarkdown(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "![")
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		if n := st.statedPicture(text[i:]); n > 0 {
			b.WriteString(text[:i+n])
			text = text[i+n:]
			continue
		}
		b.WriteString(strings.TrimRight(text[:i], "!") + "[")
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
// all that have an attribute, and all whose end is not found. «List<String>» has
// no attribute.
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
	return end < name || strings.ContainsAny(rest[name:end], "=(")
}
