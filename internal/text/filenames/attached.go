// Package filenames finds the files that a text names to a program that reads it: a patch to the
// program that applies it, a message to a chat program that attaches files. It opens no file.
package filenames

import (
	"strings"
	"unicode"
)

// The limits of [Attached]. A text that exceeds a limit is reported as torn.
const (
	maxNames = 16   // names in a text
	maxLine  = 4096 // bytes of the line after the word
	maxParts = 1024 // possible names in a text
)

// MaxWord bounds the word that [Attached] looks for.
const MaxWord = 32

// Attached returns the files that a program attaches because a text names them after a word, as in
// «MEDIA:/tmp/plan.pdf». The word must be in lower case; the text may have any case. Whole is the
// rest of each line after the word, and parts are all pieces of it that the program may read as the
// name of a file. Torn says that the program may read another text than this one, because programs
// remove tags, citation marks and other commands before they look for files.
func Attached(text, word string) (whole, parts []string, torn bool) {
	var at, gap uint64 // bit n of at: the last n letters of the word were read; gap: the same, before removable text
	none := 0          // before this index, the rest of the line contains no name
	for i, r := range text {
		var next uint64
		for n, letter := range word {
			if unicode.ToLower(r) == letter && (n == 0 || (at|gap)>>n&1 == 1) {
				next |= 1 << (n + 1)
			}
		}
		if goes(r) {
			gap |= at
		}
		if at = next; at>>len(word)&1 == 0 || i < none {
			continue
		}
		rest, up := line(text[i+1:])
		switch name := strings.Trim(rest, " \t\r`\"'[]{}(),\\"); {
		case !names(rest):
			none = i + 1 + len(rest)
		case strings.ContainsFunc(rest, goes) || strings.Contains(rest, "[[") || len(rest) > maxLine || len(whole) == maxNames:
			return whole, parts, true
		default:
			whole, parts = append(whole, name), append(parts, ranges(rest)...)
			torn = torn || up || len(parts) > maxParts
		}
	}
	return whole, parts, torn
}

// goes reports whether a character begins something that programs remove from a text.
func goes(r rune) bool { return r == '<' || r >= 0xE000 && r <= 0xF8FF }

// line returns the rest of a line. A written «\n» also ends it, because models write that. Up says
// that the text after it contains «..», because a program that does not end the line there could
// read a path to another place.
func line(text string) (rest string, up bool) {
	text, _, _ = strings.Cut(text, "\n")
	rest, more, _ := strings.Cut(text, `\n`)
	return rest, strings.Contains(more, "..")
}

// names reports whether a text may contain the name of a file or an address, unlike the text after
// «media:» in «media: none».
func names(text string) bool {
	dot := false
	return strings.ContainsFunc(text, func(r rune) bool {
		extension := dot && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
		dot = r == '.'
		return extension || goes(r) || strings.ContainsRune(`/\~`, r)
	})
}

// ranges returns the words of a line. For each word with which a path may begin, it also returns
// that word joined with the following ones, because names of files may contain spaces. Quotation
// marks may end a name.
func ranges(text string) (list []string) {
	const around = "`\"'[]{}(),\\"
	for _, apart := range []string{"", "\"'`"} {
		words := strings.FieldsFunc(text, func(r rune) bool {
			return unicode.IsSpace(r) || r == '\uFEFF' || strings.ContainsRune(apart, r)
		})
		for from, word := range words {
			list = append(list, strings.Trim(word, around))
			if word = strings.TrimLeft(word, around); word == "" || !strings.ContainsRune("/~.", rune(word[0])) && !strings.Contains(word, ":") && !strings.HasPrefix(words[from], `\`) {
				continue
			}
			for to := from + 2; to <= len(words) && len(list) <= maxParts; to++ {
				list = append(list, strings.Trim(strings.Join(words[from:to], " "), around))
			}
		}
	}
	return list
}
