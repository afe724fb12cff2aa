package scripts

import (
	"slices"
	"strings"
	"unicode"
)

// OnlyCalls reports whether a program calls only these functions.
func OnlyCalls(program string, words ...string) bool {
	for before := range strings.SplitSeq(program[:strings.LastIndexByte(program, '(')+1], "(") {
		before = strings.TrimRight(before, " \t\n")
		word := before[strings.LastIndexFunc(before, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })+1:]
		if word != "" && !slices.Contains(words, word) {
			return false
		}
	}
	return true
}

// CallsWord reports whether a program uses word other than as a field: «env.PATH» but not «.env».
func CallsWord(program, word string) bool {
	program = strings.ToLower(program)
	for at := 0; ; {
		i := strings.Index(program[at:], word)
		if i < 0 {
			return false
		}
		i += at
		if i == 0 || program[i-1] != '.' && program[i-1] != '_' && !LetterOrDigit(program[i-1]) {
			return true
		}
		at = i + len(word)
	}
}

// LetterOrDigit reports whether c is an ASCII letter or digit.
func LetterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
