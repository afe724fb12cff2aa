package tokens

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/internal/text/lookalike"
)

// Normalise returns the form of s used for loose matching: texts that look alike
// become equal. It removes case, accents, invisible characters and the difference
// between a letter and its double from another script. Typographic quotes, dashes
// and dots become plain, white space one blank. It makes different texts equal on
// purpose, and so must never decide that the owner said something.
func Normalise(s string) string { return string(AppendNormal(nil, s)) }

// AppendNormal appends the normal form of s to dst.
func AppendNormal(dst []byte, s string) []byte {
	begin := len(dst)
	dst, i := appendPlain(dst, s)
	for i < len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if unicode.IsSpace(r) {
				dst = appendBlank(dst, begin)
				continue
			}
			dst = lookalike.Append(dst, r, true)
			continue
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c+('a'-'A'))
		case c > ' ' && c < 0x7f:
			dst = append(dst, c)
		case isSpaceByte(c):
			dst = appendBlank(dst, begin)
		} // other control characters are invisible
		i++
	}
	if len(dst) > begin && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendPlain appends the normal form of the plain characters that s begins with
// and returns their number: usually all of s.
func appendPlain(dst []byte, s string) ([]byte, int) {
	n := len(dst)
	dst = slices.Grow(dst, len(s))[:n+len(s)]
	out := dst[n:]
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f {
			return dst[:n+i], i
		}
		out[i] = c | byteKinds[c]&upperByte // which is the bit that makes it a small one
	}
	return dst, len(s)
}

func appendBlank(dst []byte, begin int) []byte {
	if len(dst) == begin || dst[len(dst)-1] == ' ' {
		return dst
	}
	return append(dst, ' ')
}
