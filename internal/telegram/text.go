package telegram

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
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

// quote writes a value that somebody else chose, cut to a number of runes.
func (t *Text) quote(value string, most int) {
	if len(value) > maxQuoteBytes {
		value = value[:maxQuoteBytes/2] + " … " + value[len(value)-maxQuoteBytes/2:]
	}
	if value = shorten(visible(value), most); value == "" {
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

// maxMarks is how many marks may stand on one letter: more than people's
// languages need, fewer than it takes to write over the lines above.
const maxMarks = 3

// visible makes what cannot be seen visible: characters that hide, turn round
// or break a text become their names, and long runs of spaces a number.
func visible(text string) string {
	var b strings.Builder
	spaces, marks := 0, 0
	for i, r := range text {
		if r == ' ' {
			spaces++
			continue
		}
		flushSpaces(&b, &spaces)
		if r > ' ' && r < 0x7f { // nearly everything
			b.WriteByte(byte(r))
			marks = 0
			continue
		}
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '\n':
			b.WriteString("⏎")
		case r == '\t':
			b.WriteString("⇥")
		case r == utf8.RuneError:
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				fmt.Fprintf(&b, "⟨%02X⟩", text[i])
			} else {
				b.WriteRune(r)
			}
		case hidden(r) || marks > maxMarks:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	flushSpaces(&b, &spaces)
	return b.String()
}

// flushSpaces writes the spaces that were counted; more than a few as a number,
// or they would push what follows off the screen.
func flushSpaces(b *strings.Builder, n *int) {
	if *n > 3 {
		fmt.Fprintf(b, "⟨%d spaces⟩", *n)
	} else {
		b.WriteString(strings.Repeat(" ", *n))
	}
	*n = 0
}

// hidden reports whether a character shows nothing, or moves others about.
func hidden(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // letters and marks that look like nothing
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector) ||
		unicode.Is(unicode.Zs, r) || !unicode.IsPrint(r) && !unicode.IsGraphic(r)
}

// shorten keeps the beginning and the end of a text: an address is told from
// another by its end as often as by its beginning.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	tail := most / 3
	gone := len(runes) - (most - tail) - tail
	return fmt.Sprintf("%s⟨… %d letters …⟩%s", string(runes[:most-tail]), gone, string(runes[len(runes)-tail:]))
}

// cutRunes keeps the beginning of a text.
func cutRunes(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// mixed reports whether a word is written in letters of two alphabets that look
// alike, as a false address would be.
func mixed(text string) bool {
	latin, other := false, false
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
			other = true
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			if unicode.IsSpace(r) {
				latin, other = false, false
			}
		}
		if latin && other {
			return true
		}
	}
	return false
}
