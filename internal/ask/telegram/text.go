package telegram

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A Text is the text of a message. Foreign parts are formatted as code, so they are never links and
// cannot look like our own words.
type Text struct {
	b        []byte
	units    int // the length so far, in UTF-16 units
	entities []Entity
}

// Plain returns a text of our own words.
func Plain(words string) Text {
	var t Text
	t.say(words)
	return t
}

// String returns the text without its formatting.
func (t Text) String() string { return string(t.b) }

// say writes our own words.
func (t *Text) say(words string) {
	t.b = append(t.b, words...)
	for _, r := range words {
		t.units += units(r)
	}
}

// mark writes formatted words.
func (t *Text) mark(kind, words string) {
	from := t.units
	t.say(words)
	if t.units > from {
		t.entities = append(t.entities, Entity{Type: kind, Offset: from, Length: t.units - from})
	}
}

// head writes a bold line.
func (t *Text) head(words string) { t.mark("bold", words) }

// phrase writes a phrase. Our own words are formatted if kind is set, and foreign words are
// formatted as code.
func (t *Text) phrase(kind string, p approval.Phrase) {
	for _, part := range p {
		switch {
		case part.Foreign:
			t.mark("code", part.Text)
		case kind != "":
			t.mark(kind, part.Text)
		default:
			t.say(part.Text)
		}
	}
}

// quote writes a foreign value, cut to a number of runes.
func (t *Text) quote(value string, most int) {
	if len(value) > maxQuoteBytes {
		value = value[:maxQuoteBytes/2] + " … " + value[len(value)-maxQuoteBytes/2:]
	}
	if value = floodmark.Shorten(floodmark.Visible(value), most); value == "" {
		value = "(empty)"
	}
	t.mark("code", value)
}

// maxQuoteBytes bounds how much of a value is formatted, before it is cut.
const maxQuoteBytes = 8 << 10

// units returns the length of a rune in UTF-16, as Telegram counts it.
func units(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// cutRunes cuts a text to a number of runes.
func cutRunes(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
