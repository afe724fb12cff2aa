package approval

import (
	"strings"

	"github.com/floodmark/floodmark"
)

// A Part is a piece of what a person reads. A Foreign part comes from an agent or a page: displays
// set it apart from our own words.
type Part struct {
	Text    string
	Foreign bool
}

// A Phrase is a line of a card.
type Phrase []Part

// say adds our own words.
func (p Phrase) say(words string) Phrase { return append(p, Part{Text: words}) }

// quote adds foreign text: at most so many characters of it, and the number left out.
func (p Phrase) quote(value string, most int) Phrase {
	if len(value) > max(maxQuoted, most) {
		value = value[:maxQuoted/2] + " … " + value[len(value)-maxQuoted/2:]
	}
	if value = floodmark.Shorten(floodmark.Visible(value), most); value == "" {
		value = "(empty)"
	}
	return append(p, Part{Text: value, Foreign: true})
}

// maxQuoted is how many bytes of a value are looked at.
const maxQuoted = 8 << 10

// String is the phrase for a display without frames: foreign parts are in quotation marks, which
// they cannot close.
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
