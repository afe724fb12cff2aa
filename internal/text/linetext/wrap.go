package linetext

import (
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
)

// Printable removes characters that could steer a terminal. It is for text that others wrote, such
// as a story or a policy.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Plain returns foreign text on one line, without characters that could steer a terminal.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, Printable(s))
}

// Wrap breaks foreign text between words. It breaks a word only if that has more than most columns.
func Wrap(text string, width, most int) []string {
	var lines []string
	at := ""
	for _, word := range strings.Fields(Plain(text)) {
		if lipgloss.Width(word) > max(width, most) {
			if at != "" {
				lines, at = append(lines, at), ""
			}
			parts := chopped(word, width-1)
			lines, word = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
		}
		switch {
		case at == "":
			at = word
		case lipgloss.Width(at)+1+lipgloss.Width(word) <= width:
			at += " " + word
		default:
			lines, at = append(lines, at), word
		}
	}
	if at != "" || len(lines) == 0 {
		lines = append(lines, at)
	}
	return lines
}

// chopped breaks a word into parts of at most width columns, each with at least
// one character.
func chopped(word string, width int) []string {
	var parts []string
	begin, n := 0, 0
	for i, r := range word {
		w := lipgloss.Width(string(r))
		if n+w > width && i > begin {
			parts, begin, n = append(parts, word[begin:i]), i, 0
		}
		n += w
	}
	return append(parts, word[begin:])
}
