package catalog

import (
	"strings"
)

// The limits on the first words of a command, as catalogs and policies name
// them.
const (
	MaxCommandBytes = 4096
	MaxCommandWords = 128
)

// simple splits a command line into words if a shell would run it literally: no quotes, expansions,
// lists, pipes or redirections.
func simple(line string, buf []string) ([]string, bool) {
	line = strings.Trim(line, " ")
	if line == "" || len(line) > MaxCommandBytes {
		return nil, false
	}
	words := buf[:0]
	for line != "" {
		var word string
		word, line, _ = strings.Cut(line, " ")
		if word == "" {
			continue
		}
		if !plainWord(word) || len(words) == MaxCommandWords {
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}

// plainWord reports whether a shell takes w literally, except for a leading «~/».
func plainWord(w string) bool {
	if w[0] == '=' { // zsh looks up the command of that name
		return false
	}
	if w == "~" {
		return true
	}
	w = strings.TrimPrefix(w, "~/")
	for i := range len(w) {
		c := w[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("-_./=:,@+", c) < 0 {
			return false
		}
	}
	return true
}

// pieces splits a command line roughly at everything after which a shell could begin a new command.
// Use it to find mentions, never to allow.
func pieces(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(";|&\n\r(){}`$", r)
	})
}

// mentions splits a piece roughly into words, without quotes and redirections.
func mentions(piece string) []string {
	return strings.FieldsFunc(piece, func(r rune) bool {
		return strings.ContainsRune(" \t\"'<>=,\\[]*?", r)
	})
}

// isMonitor reports whether word names one of our own programs.
func isMonitor(word string) bool {
	word = strings.TrimSuffix(strings.ToLower(word), ".exe")
	return word == "floodmark" || word == "floodmark-hook" || word == "floodmark-box"
}
