package codescan

import (
	"iter"
	"strings"
)

// maxNesting is how deep brackets may stand in brackets. People stay below 20;
// Python itself gives up at 200.
const maxNesting = 200

// A kind says what a token is.
type kind uint8

const (
	end     kind = iota // after the last token
	name                // a word: keyword, name, attribute
	number              // a numeric literal
	text                // a string literal without code in it
	opener              // the beginning of a string literal with code in it
	piece               // plain text in such a literal
	closer              // its end
	op                  // an operator, a bracket, a separator
	newline             // the end of a statement's line
	pattern             // a regular expression literal
)

// A token is one word of a program. The source is not copied.
type token struct {
	kind kind
	word string // as written; of a string literal the content without quotes
	mark string // of a string literal its prefix in lower case
	pair int    // of a bracket its partner, else -1
	up   int    // the open bracket it stands in, else -1
	held bool   // somebody has dealt with it
}

// is reports whether t is the operator or word w.
func (t token) is(w string) bool { return (t.kind == op || t.kind == name) && t.word == w }

// A lexer cuts a text into tokens. Each language fills it in its own way.
type lexer struct {
	src    string
	at     int
	list   []token
	stack  []int    // open brackets
	notes  []string // what the comments say
	strict bool     // brackets must match
}

func (x *lexer) peek(n int) byte {
	if x.at+n < len(x.src) {
		return x.src[x.at+n]
	}
	return 0
}

func (x *lexer) rest() string { return x.src[x.at:] }

func (x *lexer) emit(k kind, word, mark string) {
	x.list = append(x.list, token{kind: k, word: word, mark: mark, pair: -1, up: x.inside()})
}

// inside is the innermost bracket that is open.
func (x *lexer) inside() int {
	if len(x.stack) == 0 {
		return -1
	}
	return x.stack[len(x.stack)-1]
}

// bracket notes an opening or closing bracket; false if it does not fit.
func (x *lexer) bracket(word string) bool {
	x.list = append(x.list, token{kind: op, word: word, pair: -1, up: x.inside()})
	me := len(x.list) - 1
	switch word {
	case "(", "[", "{", "${":
		x.stack = append(x.stack, me)
		return len(x.stack) <= maxNesting
	}
	if len(x.stack) == 0 {
		return !x.strict
	}
	you := x.stack[len(x.stack)-1]
	if !fits(x.list[you].word, word) {
		return false
	}
	x.stack = x.stack[:len(x.stack)-1]
	x.list[you].pair, x.list[me].pair = me, you
	x.list[me].up = x.inside()
	return true
}

func fits(open, shut string) bool {
	switch open {
	case "(":
		return shut == ")"
	case "[":
		return shut == "]"
	}
	return shut == "}"
}

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// word returns the word that begins here.
func (x *lexer) word() string {
	n := 0
	for n < len(x.rest()) && isWord(x.src[x.at+n]) {
		n++
	}
	return x.src[x.at : x.at+n]
}

// operator returns the longest of the operators that begins here.
func (x *lexer) operator(list string) string {
	n := 0
	for n < 4 && x.peek(n) != 0 && strings.IndexByte("+-*/%@&|^~<>=.,:;!?", x.peek(n)) >= 0 {
		n++
	}
	for ; n > 0; n-- {
		if w := x.src[x.at : x.at+n]; listed(list, w) {
			return w
		}
	}
	return ""
}

// clean reports whether a text has only what a person types: no control
// characters but tabs and line ends, no carriage return of its own.
func clean(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		case c == 0x7f || c < ' ' && c != '\t' && c != '\n':
			return false
		}
	}
	return true
}

// wordsOf yields the words of a text with where they begin.
func wordsOf(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(s); {
			if !isLetter(s[i]) {
				i++
				continue
			}
			j := i
			for j < len(s) && isWord(s[j]) {
				j++
			}
			if !yield(i, s[i:j]) {
				return
			}
			i = j
		}
	}
}
