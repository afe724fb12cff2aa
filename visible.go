package floodmark

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many marks may stand on one letter: more than people's
// languages need, fewer than it takes to write over the lines above.
const maxMarks = 3

// Visible returns a foreign text as it may safely be shown to a person on one line: characters that
// hide, turn round or break a text become their names, and long runs of spaces a number. The caller
// also sets it apart from our own words, by a frame or by quotation marks.
func Visible(text string) string {
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
		case unseen(r) || marks > maxMarks:
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

// unseen reports whether a character shows nothing, or moves others about.
func unseen(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // letters and marks that look like nothing
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector) ||
		unicode.Is(unicode.Zs, r) || !unicode.IsPrint(r) && !unicode.IsGraphic(r)
}

// Shorten keeps the beginning and the end of a text, and says how many letters
// are left out: an address is told from another by its end as often as by its
// beginning.
func Shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	tail := most / 3
	gone := len(runes) - (most - tail) - tail
	return fmt.Sprintf("%s⟨… %d letters …⟩%s", string(runes[:most-tail]), gone, string(runes[len(runes)-tail:]))
}

// OneLine makes one line of at most limit bytes out of a text, without anything
// that a terminal would obey. It is for words of ours that hold some of
// another's: nothing of those is to be compared with the original.
func OneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	cut := max(limit-len("…"), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Inert is a foreign name of at most so many letters, as a person may be shown it among words of
// ours that a program may draw: on one line, without characters that are not seen or that turn
// the direction of writing, and without what could be a link, a picture or an element.
func Inert(name string, limit int) string {
	const markup = "[]<>`|*"
	plain := !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(markup, r) })
	if plain && len(name) <= limit { // as most are
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

// LooksAlike reports whether a word is written in letters of two alphabets that
// look alike, as a false address would be.
func LooksAlike(text string) bool {
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
