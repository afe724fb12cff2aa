package scripts

import (
	"strconv"
	"strings"
)

// Unescape returns a literal as used inside double quotes, with escapes resolved.
func Unescape(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// ANSI returns the value of $'…', and false if the value is not known.
func ANSI(text string) (value string, known bool) {
	if strings.IndexByte(text, '\\') < 0 {
		return text, true
	}
	var b strings.Builder
	for text != "" {
		if text[0] != '\\' || len(text) < 2 {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		switch text[1] {
		case 'e', 'E':
			b.WriteByte(27)
			text = text[2:]
			continue
		case '\'', '"', '?':
			b.WriteByte(text[1])
			text = text[2:]
			continue
		case 'c', 'u', 'U':
			return "", false
		}
		c, rest, ok := number8(text)
		if !ok {
			r, _, tail, err := strconv.UnquoteChar(text, 0)
			if err != nil {
				b.WriteByte('\\')
				text = text[1:]
				continue
			}
			b.WriteRune(r)
			text = tail
			continue
		}
		if c == 0 { // the shell ends the text here
			return b.String(), true
		}
		b.WriteByte(c)
		text = rest
	}
	return b.String(), true
}

// number8 reads \nnn with one to three octal digits, or \xHH with one or two hexadecimal digits.
func number8(text string) (c byte, rest string, ok bool) {
	base, at, most := 8, 1, 3
	if text[1] == 'x' {
		base, at, most = 16, 2, 2
	}
	end := at
	for end < len(text) && end < at+most && isDigit(text[end], base) {
		end++
	}
	if end == at {
		return 0, text, false
	}
	n, err := strconv.ParseUint(text[at:end], base, 16)
	return byte(n), text[end:], err == nil //nolint:gosec // as the shell does
}

func isDigit(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '7':
		return true
	case base == 16:
		return c == '8' || c == '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	return false
}
