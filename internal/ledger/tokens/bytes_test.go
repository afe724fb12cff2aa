package tokens

import (
	"strings"
	"testing"
	"unicode"
)

// The table says of every byte what it is.
func TestByteKinds(t *testing.T) {
	for i := range 256 {
		c := byte(i)
		ascii := c < 0x80
		for kind, want := range map[byte]bool{
			letterByte: ascii && unicode.IsLetter(rune(c)),
			digitByte:  ascii && unicode.IsDigit(rune(c)),
			joinerByte: strings.IndexByte(".-_/:@#$%+~", c) >= 0,
			spaceByte:  ascii && unicode.IsSpace(rune(c)),
			urlByte:    c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>{}|\\^`()[],", c) >= 0,
			upperByte:  ascii && unicode.IsUpper(rune(c)),
		} {
			if byteIs(c, kind) != want {
				t.Errorf("byte %#x, kind %d: %v", c, kind, !want)
			}
		}
		if small := strings.ToLower(string(rune(c))); ascii && c > ' ' && c < 0x7f && Normalise(string(rune(c))) != small {
			t.Errorf("%q is %q", c, Normalise(string(rune(c))))
		}
	}
}
