package tokens

import (
	_ "embed"
	"iter"
	"strings"
)

// The words that decide what a token is are embedded: the index of a session
// is written with them, so there is one list for all.

//go:embed words/usual.txt
var usualWords string // in order, each on a line of its own

//go:embed words/groups.txt
var wordGroups string

// UsualWords returns the words too usual to identify anything, in order, one a line.
func UsualWords() string { return usualWords }

// Common reports whether a word in lower case is too usual to identify
// anything: a name made of such words is no name, and finding one in a source
// says nothing about where a value came from.
func Common(word string) bool {
	low, high := 0, len(usualWords) // both are where a line begins
	for low < high {
		start := low + strings.LastIndexByte(usualWords[low:low+(high-low)/2], '\n') + 1
		end := start + strings.IndexByte(usualWords[start:], '\n')
		switch line := usualWords[start:end]; {
		case line == word:
			return true
		case line < word:
			low = end + 1
		default:
			high = start
		}
	}
	return false
}

// InGroup reports whether a word in lower case is one of a group.
func InGroup(group, word string) bool {
	line, word := groupLine(group), " "+word
	return strings.LastIndexByte(word, ' ') == 0 && len(word) > 1 && (strings.Contains(line, word+" ") || strings.HasSuffix(line, word))
}

// GroupWords returns the words of a group; an unknown group has none.
func GroupWords(group string) iter.Seq[string] { return strings.FieldsSeq(groupLine(group)) }

func groupLine(group string) string {
	_, rest, _ := strings.Cut(wordGroups, "\n"+group+":")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// Connects reports whether a word holds a name together, as in «Bank of
// America».
func Connects(word string) bool { return InGroup("connects", word) }

// IsCurrency reports whether a word in lower case names money.
func IsCurrency(word string) bool { return InGroup("currency", word) }
