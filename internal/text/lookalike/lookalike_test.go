package lookalike

import "testing"

// TestInvisibleCharacters compares every character with the blocks of invisible characters.
func TestInvisibleCharacters(t *testing.T) {
	blocks := [][2]rune{
		{0, 8}, {0x0e, 0x1f}, {0x7f, 0x84}, {0x86, 0x9f}, // controls that are not white space
		{0xad, 0xad},                                                           // soft hyphen
		{0x300, 0x36f},                                                         // combining diacritical marks
		{0x61c, 0x61c},                                                         // Arabic letter mark
		{0x115f, 0x1160},                                                       // Hangul fillers
		{0x17b4, 0x17b5},                                                       // Khmer inherent vowels
		{0x180b, 0x180f},                                                       // Mongolian selectors and the vowel separator
		{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}, // more combining marks
		{0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x206f}, // zero width and direction
		{0x3164, 0x3164}, {0xffa0, 0xffa0}, // Hangul fillers again
		{0xfe00, 0xfe0f},   // variation selectors
		{0xfeff, 0xfeff},   // byte order mark
		{0xfff9, 0xfffb},   // interlinear annotations
		{0x1d173, 0x1d17a}, // musical formats
		{0xe0000, 0xe0fff}, // tags
	}
	want := map[rune]bool{}
	for _, b := range blocks {
		for r := b[0]; r <= b[1]; r++ {
			want[r] = true
		}
	}
	for r := rune(0); r <= 0x10ffff; r++ {
		if Invisible(r) != want[r] {
			t.Errorf("U+%04X is invisible: %v", r, !want[r])
		}
	}
}

func TestLookAlikes(t *testing.T) {
	for r, want := range map[rune]rune{
		'-': '-', '"': '"', 0xa7: 0xa7, '¨': '"', '´': '\'', '«': '"', '»': '"', '¿': '¿',
		'À': 'A', 'ÿ': 'y', 'Æ': 'Æ', '÷': '÷', 'Ā': 'A', 'ſ': 's', 'ƀ': 'ƀ',
		'Ͱ': 'Ͱ', 'Α': 'A', 'ω': 'w', 'ϳ': 'j', 'Ͽ': 'Ͽ',
		'Ѐ': 'E', 'А': 'A', 'у': 'y', 'ԝ': 'w', 'ж': 'ж',
		'‐': '-', '⁄': '/', 'K': 'K', '〜': '~', '﹣': '-', '﹫': '@',
		0xff00: 0xff00, '！': '!', 'Ａ': 'A', 'ｚ': 'z', '～': '~', 0xff5f: 0xff5f,
		0x1d3ff: 0x1d3ff, '𝐀': 'A', '𝐳': 'z', '𝐴': 'A', 0x1d6a3: 'z', 0x1d6a4: 0x1d6a4,
		0x1d7cd: 0x1d7cd, '𝟎': '0', '𝟗': '9', '𝟘': '0', 0x1d7ff: '9', 0x1d800: 0x1d800,
		0x1f12f: 0x1f12f, '🄰': 'A', '🅉': 'Z', 0x1f14a: 0x1f14a,
	} {
		if got := Of(r); got != want {
			t.Errorf("%c (U+%04X) looks like %c, want %c", r, r, got, want)
		}
	}
}
