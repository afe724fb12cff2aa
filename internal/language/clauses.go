package language

import (
	"strings"
	"unicode"
)

// A phrase is a part of a text.
type phrase struct {
	start, end int
	sentence   bool   // a sentence begins here
	joint      string // what joins it to the phrase before: «and», «,»
}

// phrases parts a message into pieces that each ask for one thing at most, so that
// a verb licenses only what it stands with. It cuts at the ends of sentences and at
// words that join clauses, never inside quotes: what is quoted is one value.
func (g *grammar) phrases(text string) []phrase {
	var list []phrase
	next := phrase{sentence: true}
	// Without a joint a new sentence begins.
	cut := func(end, begin int, joint string) {
		if strings.TrimSpace(text[next.start:end]) != "" {
			next.end = end
			list = append(list, next)
			next.sentence = false
		}
		next.start, next.sentence, next.joint = begin, next.sentence || joint == "", joint
	}
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote || r == '\n' {
				quote = 0
			}
		case opens(text, i, r) != 0:
			quote = opens(text, i, r)
		case r == '\n' || r == ';':
			cut(i, i+1, "")
		case (r == '.' || r == '!' || r == '?') && (i+1 == len(text) || unicode.IsSpace(rune(text[i+1]))):
			cut(i+1, i+1, "")
		case r == ',' && i+1 < len(text) && text[i+1] == ' ':
			cut(i, i+1, ",")
		case r == ' ' && i >= next.start:
			if w := g.joint(text[i+1:]); w != "" {
				cut(i, i+1+len(w), w)
			}
		}
	}
	cut(len(text), len(text), "")
	return list
}

// opens returns the closing mark if a quoted string begins here.
func opens(text string, i int, r rune) rune {
	if i > 0 && !unicode.IsSpace(rune(text[i-1])) && text[i-1] != '(' {
		return 0
	}
	switch r {
	case '"', '\'', '`':
		return r
	case '“':
		return '”'
	case '«':
		return '»'
	}
	return 0
}

// joint returns the word that joins clauses which a text begins with.
func (g *grammar) joint(text string) string {
	for _, w := range g.Joints {
		if len(text) > len(w) && text[len(w)] == ' ' && strings.EqualFold(text[:len(w)], w) {
			return w
		}
	}
	return ""
}
