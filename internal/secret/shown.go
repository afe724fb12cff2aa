package secret

import (
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// The limits of what is kept of an argument for a person to read, in bytes.
const (
	maxShown     = 120
	maxShownTail = 40   // how much of maxShown is the end of the argument
	maxHost      = 300  // the length of the beginning if that is needed to show a host
	maxVeiled    = 4096 // searched for secrets at either end; more than is shown, so that no secret is cut in two
)

// Shown returns what a person may read of an argument: no content, and nothing that is
// called a secret or has the shape of one. Each line break is shown as a sign.
func (r Rules) Shown(a catalog.Arg, l hook.Leaf) string {
	if a.Role == floodmark.Content || a.Is == catalog.IsSecret || IsName(l.Path) {
		return ""
	}
	value := l.Value
	if len(value) > 2*maxVeiled {
		value = value[:maxVeiled] + "…" + value[len(value)-maxVeiled:]
	}
	text := value
	if !printable(value) {
		text = legible(value)
	}
	if a.Is == catalog.IsCommand {
		text = unbroken(r.VeilLine(text))
	} else {
		text = r.Veil(unbroken(text))
	}
	return bothEnds(text)
}

// printable reports whether a text consists of printable ASCII characters. Most arguments
// do, and need no further change.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// legible drops the invisible characters of a text.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// unbroken puts a text on one line, with a sign for each line break.
func unbroken(text string) string {
	if printable(text) {
		return text
	}
	return strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\r", "⏎", "\t", " ").Replace(text)
}

// bothEnds returns a text, without its middle if it is long. The end is kept, because an
// attack could be hidden there. The host of an address stays whole.
func bothEnds(text string) string {
	head := maxShown - maxShownTail
	if at := strings.Index(text, "://"); at >= 0 && at < head {
		if host := strings.IndexAny(text[at+3:], "/?# "); host >= 0 {
			head = max(head, min(at+3+host, maxHost))
		}
	}
	if len(text) <= max(maxShown, head+maxShownTail) {
		return text
	}
	return strings.ToValidUTF8(text[:head], "") + "…" + strings.ToValidUTF8(text[len(text)-maxShownTail:], "")
}
