// Package filenames knows which files a text names for a program that reads it: a patch for
// git or patch, a message for a chat program that sends files along. It opens none.
package filenames

import (
	"strings"
	"unicode"
)

// The limits of the names in one text, of the line each stands in, and of what each may stand for. A text with more of them
// counts as one that cannot be read off.
const (
	maxNames = 16
	maxLine  = 4096
	maxParts = 1024
)

// MaxWord bounds the word that [Attached] looks for.
const MaxWord = 32

// Attached are the files that a program sends along because a text names them behind a word, as
// in «MEDIA:/tmp/plan.pdf», which is written in small letters here. Whole has what stands there
// up to the end of each line, parts everything in it that the program may take for the name of
// one. Torn says that it may read another text than stands here: programs take tags, signs of
// citations and other commands out of a text before they read it.
func Attached(text, word string) (whole, parts []string, torn bool) {
	var at, gap uint64 // bit n: the last n letters of the word were read; from there on, some of the text may go
	none := 0          // up to there, no line goes on with a name
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

// goes reports a character with which something begins that programs take out of a text.
func goes(r rune) bool { return r == '<' || r >= 0xE000 && r <= 0xF8FF }

// line is the rest of a line. «\n» may be written out, because models do; a program that leaves
// it as it is may find a name in what follows that leads up and elsewhere.
func line(text string) (rest string, up bool) {
	text, _, _ = strings.Cut(text, "\n")
	rest, more, _ := strings.Cut(text, `\n`)
	return rest, strings.Contains(more, "..")
}

// names reports whether a file or an address may stand in a text: «media: none» has none.
func names(text string) bool {
	dot := false
	return strings.ContainsFunc(text, func(r rune) bool {
		extension := dot && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
		dot = r == '.'
		return extension || goes(r) || strings.ContainsRune(`/\~`, r)
	})
}

// ranges are the words of a line, and of those with which a path begins, all that stand
// together: the names of files may have spaces, and quotation marks may end them.
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
