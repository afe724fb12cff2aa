package kernel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxVisible bounds a foreign name in a line or footer.
const maxVisible = 80

// visible is a foreign name as a person may safely be shown it: on one line,
// without characters that are not seen, that turn the direction of writing, or
// that a program would take for a link, a picture or an element.
func visible(name string) string { return visibleUpTo(name, maxVisible) }

// markup is what a program could take for more than text.
const markup = "[]<>`|*"

func visibleUpTo(name string, limit int) string {
	if printable(name) && !strings.ContainsAny(name, markup) { // as most are
		if len(name) > limit {
			return name[:limit] + "…"
		}
		return name
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			return -1
		case strings.ContainsRune(markup, r):
			return '·'
		}
		return r
	}, name)
	if utf8.RuneCountInString(name) > limit {
		name = string([]rune(name)[:limit]) + "…"
	}
	return name
}
