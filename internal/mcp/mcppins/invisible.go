package mcppins

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxBlank is how many blanks in a row a text may have, line breaks included. More could push the
// text that follows out of sight.
const maxBlank = 200

// Characters that join letters, or make or join an emoji, where they belong.
const (
	joiner         = '\u200d'
	nonJoiner      = '\u200c'
	textPicture    = '\ufe0e'
	colourPicture  = '\ufe0f'
	keycap         = '\u20e3'
	firstSkin      = '\U0001f3fb'
	lastSkin       = '\U0001f3ff'
	brailleBlank   = '\u2800'
	firstTag       = '\U000e0000'
	lastTag        = '\U000e0fff'
	firstSurrogate = 0xfdd0 // of code points that are no characters
	lastSurrogate  = 0xfdef
)

// hidden describes the first character of a text that a reader would not see; empty if there is
// none.
func hidden(s string) string {
	before, blanks := rune(0), 0
	for i, r := range s {
		if unicode.IsSpace(r) && r != '\u2028' && r != '\u2029' && r != '\u0085' && r != '\v' && r != '\f' {
			if blanks++; blanks > maxBlank {
				return fmt.Sprintf("more than %d blanks in a row", maxBlank)
			}
			before = r
			continue
		}
		blanks = 0
		if unseen(r) {
			after, size := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if size == 0 {
				after = 0 // nothing follows
			}
			if !belongs(r, before, after) {
				return character(r)
			}
		}
		before = r
	}
	return ""
}

// unseen reports whether a character leaves no mark of its own on the page, turns the direction of
// writing, or steers a terminal.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case r >= firstTag && r <= lastTag, r&0xfffe == 0xfffe, r >= firstSurrogate && r <= lastSurrogate:
		return true
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, brailleBlank:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// belongs reports whether the neighbours of an unseen character need it: it is between the parts of
// an emoji, after an emoji, or between letters whose script needs it. A second one in a row never
// belongs.
func belongs(r, before, after rune) bool {
	switch r {
	case joiner:
		return (picture(before) || before == colourPicture) && picture(after) || joins(before) && joins(after)
	case nonJoiner:
		return joins(before) && joins(after)
	case textPicture, colourPicture:
		return picture(before) || after == keycap && (before == '#' || before == '*' || before >= '0' && before <= '9')
	}
	return false
}

// picture reports whether a character may be an emoji.
func picture(r rune) bool {
	return r != brailleBlank && unicode.In(r, unicode.So, unicode.Sm) || r >= firstSkin && r <= lastSkin || r == '‼' || r == '⁉' || r == '〰' || r == '〽'
}

// joins reports whether a character is a letter or mark of a script in which letters join.
func joins(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar) && !unseen(r)
}

// character describes a character for people.
func character(r rune) string {
	what := "an invisible character"
	switch {
	case r == 0x1b || r == 0x9b:
		what = "a terminal escape"
	case r >= firstTag && r <= 0xe007f:
		what = "a tag character"
	case unicode.Is(unicode.Variation_Selector, r):
		what = "a variation selector in an odd place"
	case unicode.Is(unicode.Bidi_Control, r):
		what = "a character that turns the direction of writing"
	case unicode.IsControl(r):
		what = "a control character"
	case unicode.Is(unicode.Co, r):
		what = "a character of private use"
	}
	return fmt.Sprintf("%s (U+%04X)", what, r)
}

// Hides reports whether a text holds something that a reader would not see.
func Hides(s string) bool { return !utf8.ValidString(s) || hidden(s) != "" }

// Visible returns a text with unseen characters spelled out, such as \u{200b}. Line breaks and tabs
// stay.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unseen(r) || r == '\r':
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// maxShown bounds a foreign name in a line.
const maxShown = 80

// bounded returns at most the first n characters of a text.
func bounded(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// shown returns a foreign name on one line: visible, short, and without characters that a program
// could take for a link or a tag.
func shown(name string) string {
	return bounded(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune("[]<>`|*«»", r):
			return '·'
		}
		return r
	}, Visible(name)), maxShown)
}
