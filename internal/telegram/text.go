package telegram

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// A Text is what a message says, with the parts that others wrote set apart:
// those stand in a frame of their own, are never links, and cannot look like
// words of ours.
type Text struct {
	b        []byte
	units    int // written so far, in UTF-16
	entities []Entity
}

// Plain is a text of ours.
func Plain(words string) Text {
	var t Text
	t.say(words)
	return t
}

// String is the text without its marks.
func (t Text) String() string { return string(t.b) }

// say writes words of ours.
func (t *Text) say(words string) {
	t.b = append(t.b, words...)
	for _, r := range words {
		t.units += units(r)
	}
}

// mark writes words that are shown in a way of their own.
func (t *Text) mark(kind, words string) {
	from := t.units
	t.say(words)
	if t.units > from {
		t.entities = append(t.entities, Entity{Type: kind, Offset: from, Length: t.units - from})
	}
}

// head writes a line that stands out.
func (t *Text) head(words string) { t.mark("bold", words) }

// phrase writes words of ours, shown in a way of their own if it has a name, and
// what others chose in its frame.
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

// maxQuoteBytes is how much of a value is looked at.
const maxQuoteBytes = 8 << 10

// units is how much room a rune takes in what Telegram counts.
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
