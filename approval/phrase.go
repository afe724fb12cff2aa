package approval

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// A Part is a piece of a text for a person. A Foreign part comes from an agent or a page, and a
// display sets it apart from our own words.
type Part struct {
	Text    string
	Foreign bool
}

// A Phrase is a line of a card.
type Phrase []Part

// say adds our own words.
func (p Phrase) say(words string) Phrase { return append(p, Part{Text: words}) }

// quote adds the beginning of a foreign text, up to a number of characters, and says how many are
// left out.
func (p Phrase) quote(value string, most int) Phrase {
	if len(value) > max(maxQuoted, most) {
		value = value[:maxQuoted/2] + " … " + value[len(value)-maxQuoted/2:]
	}
	if value = floodmark.Shorten(floodmark.Visible(value), most); value == "" {
		value = "(empty)"
	}
	return append(p, Part{Text: value, Foreign: true})
}

// maxQuoted bounds the bytes of a value that quote examines, if less is shown.
const maxQuoted = 8 << 10

// String returns the phrase for a display without frames. Foreign parts are in quotation marks, and
// quotation marks inside them are replaced.
func (p Phrase) String() string {
	var b strings.Builder
	for _, part := range p {
		if !part.Foreign {
			b.WriteString(part.Text)
			continue
		}
		b.WriteString("“")
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(part.Text, "“", "⟨U+201C⟩"), "”", "⟨U+201D⟩"))
		b.WriteString("”")
	}
	return b.String()
}
