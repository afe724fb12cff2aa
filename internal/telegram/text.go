package telegram

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A Text is the text of a message. Foreign parts are in frames of their own, are never links, and
// cannot look like our own words.
type Text struct {
	b        []byte
	units    int // written so far, in UTF-16
	entities []Entity
}

// Plain is a text of our own words.
func Plain(words string) Text {
	var t Text
	t.say(words)
	return t
}

// String is the text without its marks.
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

// phrase writes our own words, formatted if kind is set, and foreign ones in a frame.
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

// maxQuoteBytes is how much of a value is examined.
const maxQuoteBytes = 8 << 10

// units is the length of a rune in UTF-16, which Telegram counts.
func units(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// cutRunes keeps the beginning of a text.
func cutRunes(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
