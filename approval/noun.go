package approval

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// maxNoun bounds the name of a tool.
const maxNoun = 80

// Noun returns a common word for the content of an origin.
func Noun(o floodmark.Origin) string {
	name := strings.ToLower(o.Name)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
	}
	switch {
	case o.Kind == floodmark.FromSender:
		return "message"
	case o.Kind == floodmark.FromTool && has("mail"):
		return "e-mail"
	case o.Kind == floodmark.FromTool && has("vestige", "memory"):
		return "memory"
	case o.Kind == floodmark.FromTool && has("web", "fetch", "browser", "search", "url"):
		return "web page"
	case o.Kind == floodmark.FromTool && has("calendar"):
		return "calendar entry"
	case o.Kind == floodmark.FromTool && has("read", "file"), o.Kind == floodmark.FromFile:
		return "file"
	case o.Kind == floodmark.FromTool:
		return "result of " + floodmark.Inert(o.Name, maxNoun)
	case o.Kind == floodmark.FromChild:
		return "sub-agent result"
	case o.Kind == floodmark.FromPaste:
		return "pasted text"
	}
	return "source"
}

// Plural returns the plural of a [Noun].
func Plural(n string) string {
	if head, rest, ok := strings.Cut(n, " of "); ok {
		return Plural(head) + " of " + rest
	}
	if stem, ok := strings.CutSuffix(n, "y"); ok {
		return stem + "ies"
	}
	return n + "s"
}
