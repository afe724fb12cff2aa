package floodmark

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks one letter may have: more than any language needs, too few
// to write over the lines above.
const maxMarks = 3

// Visible returns a foreign text in a form that is safe to show to a person on one line. Characters
// that hide, reverse or break text are replaced by their names, and a long run of spaces by its
// length. The caller must also set the text apart from our own words by a frame or quotation marks.
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

// flushSpaces writes the counted spaces. More than three are written as a number, because they
// could push later text off the screen.
func flushSpaces(b *strings.Builder, n *int) {
	if *n > 3 {
		fmt.Fprintf(b, "⟨%d spaces⟩", *n)
	} else {
		b.WriteString(strings.Repeat(" ", *n))
	}
	*n = 0
}

// unseen reports whether r is invisible or changes how other characters are displayed.
func unseen(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // letters and marks without a shape
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector) ||
		unicode.Is(unicode.Zs, r) || !unicode.IsPrint(r) && !unicode.IsGraphic(r)
}

// Shorten keeps the beginning and the end of a text, because the end of an address matters as much
// as its beginning. Between them it says how many characters are left out.
func Shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	tail := most / 3
	gone := len(runes) - (most - tail) - tail
	return fmt.Sprintf("%s⟨… %d letters …⟩%s", string(runes[:most-tail]), gone, string(runes[len(runes)-tail:]))
}

// OneLine returns a text as one line of at most limit bytes, without control characters. It is for
// our own words with foreign parts, if these parts need not stay exact.
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

// Inert returns a foreign name of limited length that is safe among our own words in a program that
// renders markup: on one line, without invisible or bidirectional characters, and without anything
// that could be a link, a picture or an element.
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

// LooksAlike reports whether a word mixes letters of two similar alphabets, as a false address
// would.
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
