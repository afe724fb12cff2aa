package rulesdesk

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// maxForeign bounds a text of others in an answer, in characters.
const maxForeign = 1_000

// foreign makes a text of others safe to send.
func foreign(text string) string {
	return floodmark.Shorten(strings.ToValidUTF8(text, "\uFFFD"), maxForeign)
}
