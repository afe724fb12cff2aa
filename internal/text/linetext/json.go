package linetext

import (
	"unicode"
	"unicode/utf16"
)

// EscapeJSON replaces characters that could steer a terminal by JSON escapes. Compact JSON has such
// characters only within strings, so its meaning stays the same.
func EscapeJSON(data []byte) []byte {
	const hex = "0123456789abcdef"
	var out []byte
	unit := func(u uint16) {
		out = append(out, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	for _, r := range string(data) {
		switch {
		case !unicode.IsControl(r) && !unicode.In(r, unicode.Cf):
			out = append(out, string(r)...)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			unit(uint16(high))
			unit(uint16(low))
		default:
			unit(uint16(r))
		}
	}
	return out
}
