package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a person is shown of a long value: a line that hides its end is no
// question.
const (
	maxHead = 300
	maxTail = 100
)

// Ends is a value on one line, in the middle of which something may be left out.
func Ends(value string) string {
	runes := []rune(OneLine(value))
	if left := len(runes) - maxHead - maxTail; left > 0 {
		return string(runes[:maxHead]) + fmt.Sprintf(" […%d characters…] ", left) + string(runes[len(runes)-maxTail:])
	}
	return string(runes)
}

// OneLine is a value with all that a person can see in it: also the signs that
// make two commands of one line.
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
