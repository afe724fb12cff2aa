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

// phrases cuts a message into phrases that each ask for at most one thing, so that a verb only
// licenses what is in its phrase. It cuts at the ends of sentences, at commas and at words that join
// clauses, but not inside quotes, because a quoted text is one value.
func (g *grammar) phrases(text string) []phrase {
	var list []phrase
	next := phrase{sentence: true}
	// cut ends a phrase. Without a joint the next phrase begins a sentence.
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

// joint returns the word at the beginning of a text, if that word joins clauses.
func (g *grammar) joint(text string) string {
	for _, w := range g.Joints {
		if len(text) > len(w) && text[len(w)] == ' ' && strings.EqualFold(text[:len(w)], w) {
			return w
		}
	}
	return ""
}
