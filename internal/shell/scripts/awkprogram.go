package scripts

import (
	_ "embed" // the list of functions
	"slices"
	"strings"
)

// awkFunctions lists the functions and keywords of awk that only read, compute or print, one in each
// line.
//
//go:embed awk.txt
var awkFunctions string

// PlainAwk reports whether a program only reads its input and prints, because all its functions and
// special variables are known to do no more. Strings are searched too, so that quotes cannot hide a
// word.
func PlainAwk(text string) bool {
	text = strings.ReplaceAll(withoutPattern(text), "||", "  ")
	_, printed, _ := strings.Cut(text, "print") // print … > file
	if strings.Contains(printed, ">") || strings.ContainsAny(text, "|@") || strings.Contains(text, "\\\n") || strings.Contains(text, "getline") {
		return false
	}
	for text != "" {
		begin := strings.IndexFunc(text, inAwkName)
		if begin < 0 {
			return true
		}
		text = text[begin:]
		end := strings.IndexFunc(text+" ", func(c rune) bool { return !inAwkName(c) })
		name, rest := text[:end], strings.TrimLeft(text[end:], blanks)
		special := len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name
		if special && !slices.Contains(strings.Fields("BEGIN END NR NF FNR FS OFS RS ORS FILENAME SUBSEP RSTART RLENGTH"), name) {
			return false
		}
		if strings.HasPrefix(rest, "(") && !strings.Contains(awkFunctions, "\n"+name+"\n") {
			return false
		}
		text = text[end:]
	}
	return true
}

// withoutPattern removes a plain leading pattern: /ERROR/.
func withoutPattern(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, blanks), "/")
	if !ok {
		return text
	}
	pattern, after, ok := strings.Cut(rest, "/")
	if !ok || strings.ContainsFunc(pattern, func(c rune) bool { return !inAwkName(c) && !strings.ContainsRune(" .:^$-", c) }) {
		return text
	}
	return after
}

func inAwkName(c rune) bool { return c == '_' || c < 0x80 && LetterOrDigit(byte(c)) }

// blanks are the characters between two words of an awk program.
const blanks = " \t\n\f\r"
