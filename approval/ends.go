package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many characters are shown of the beginning and of the end of a long value.
const (
	maxHead = 300
	maxTail = 100
)

// Ends returns a value as one line, possibly with its middle left out.
func Ends(value string) string {
	runes := []rune(OneLine(value))
	if left := len(runes) - maxHead - maxTail; left > 0 {
		return string(runes[:maxHead]) + fmt.Sprintf(" […%d characters…] ", left) + string(runes[len(runes)-maxTail:])
	}
	return string(runes)
}

// OneLine returns a value with line breaks and invisible characters replaced by visible signs, so
// that several command lines do not look like one.
func OneLine(value string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r':
			return '⏎'
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Co):
			return '·'
		}
		return r
	}, value)
}
