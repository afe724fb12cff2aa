package codescan

import (
	"strings"
	"unicode/utf8"
)

const pyOperators = " ... **= //= >>= <<= := == != <= >= -> += -= *= /= %= &= |= ^= @= ** // << >> + - * / % @ & | ^ ~ < > = . , : ; "

// lexPython cuts a Python text into tokens. It is false for whatever Python
// versions read differently, and for what nobody writes.
func lexPython(src string, strict bool) (*lexer, bool) {
	x := &lexer{src: src, strict: strict}
	if !utf8.ValidString(src) || !clean(src) || pyEncoded(src) {
		return x, false
	}
	x.list = make([]token, 0, len(src)/6+8)
	for x.at < len(src) {
		if !x.pyToken() {
			return x, false
		}
	}
	return x, !strict || len(x.stack) == 0
}

func (x *lexer) pyToken() bool {
	switch c := x.src[x.at]; {
	case c == ' ' || c == '\t' || c == '\r':
		x.at++
	case c == '\n':
		x.at++
		if len(x.stack) == 0 {
			x.emit(newline, "\n", "")
		}
	case c == '#':
		return x.pyComment()
	case c == '\\':
		if x.peek(1) == '\r' {
			x.at++
		}
		if x.peek(1) != '\n' {
			return false
		}
		x.at += 2
	case isLetter(c):
		return x.pyWord()
	case c == '"' || c == '\'':
		return x.pyString("")
	case isDigit(c) || c == '.' && isDigit(x.peek(1)):
		return x.pyNumber()
	case strings.IndexByte("([{)]}", c) >= 0:
		x.at++
		return x.bracket(x.src[x.at-1 : x.at])
	default:
		w := x.operator(pyOperators)
		relative := len(x.list) > 0 && (x.list[len(x.list)-1].is("from") || x.list[len(x.list)-1].is("."))
		x.at += len(w)
		x.emit(op, w, "")
		return w != "" && (w != "." || relative || !dangling(x.src, x.at))
	}
	return true
}

// pyComment skips a comment.
func (x *lexer) pyComment() bool {
	line, _, _ := strings.Cut(x.rest(), "\n")
	x.at += len(line)
	x.notes = append(x.notes, line[1:])
	return true
}

// pyEncoded reports whether a line may tell Python to read the file in another
// encoding, which would turn it into another text.
func pyEncoded(src string) bool {
	for at := 0; ; {
		i := strings.Index(src[at:], "coding")
		if i < 0 {
			return false
		}
		at += i + len("coding")
		line := src[strings.LastIndexByte(src[:at], '\n')+1 : at]
		after := strings.ToLower(src[at:min(at+24, len(src))])
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") || after == "" || after[0] != ':' && after[0] != '=' {
			continue
		}
		if word := strings.TrimLeft(after[1:], " \t"); !strings.HasPrefix(word, "utf-8") || strings.HasPrefix(word, "utf-8-") {
			return true
		}
	}
}

func (x *lexer) pyWord() bool {
	w := x.word()
	if q := x.peek(len(w)); (q == '"' || q == '\'') && len(w) <= 2 {
		switch mark := strings.ToLower(w); mark {
		case "r", "b", "u", "f", "br", "rb", "fr", "rf":
			x.at += len(w)
			return x.pyString(mark)
		case "t", "tr", "rt":
			return false // templates of later versions hold code
		}
	}
	x.at += len(w)
	x.emit(name, w, "")
	return x.peek(0) < utf8.RuneSelf // Python folds other letters into these
}

func (x *lexer) pyNumber() bool {
	from := x.at
	digits := func(set string) {
		for x.peek(0) != 0 && strings.IndexByte(set, x.peek(0)) >= 0 {
			x.at++
		}
	}
	const decimal = "0123456789_"
	if two := strings.ToLower(x.src[x.at:min(x.at+2, len(x.src))]); two == "0x" || two == "0o" || two == "0b" {
		x.at += 2
		digits("0123456789abcdefABCDEF_")
	} else {
		digits(decimal)
		if x.peek(0) == '.' {
			x.at++
			digits(decimal)
		}
		if e := x.peek(0); e == 'e' || e == 'E' {
			x.at++
			if s := x.peek(0); s == '+' || s == '-' {
				x.at++
			}
			digits(decimal)
		}
		if j := x.peek(0); j == 'j' || j == 'J' {
			x.at++
		}
	}
	x.emit(number, x.src[from:x.at], "")
	return !isWord(x.peek(0)) && x.peek(0) < utf8.RuneSelf // «1if» is two words in Python
}

// pyString reads a string literal; its prefix has been read.
func (x *lexer) pyString(mark string) bool {
	quote := x.src[x.at : x.at+1]
	if strings.HasPrefix(x.rest(), quote+quote+quote) {
		quote += quote + quote
	}
	x.at += len(quote)
	if strings.Contains(mark, "f") {
		return x.pyFormatted(mark, quote)
	}
	from := x.at
	for x.at < len(x.src) {
		switch {
		case x.peek(0) == '\\':
			x.at += 2
		case strings.HasPrefix(x.rest(), quote):
			x.emit(text, x.src[from:x.at], mark)
			x.at += len(quote)
			return true
		case x.peek(0) == '\n' && len(quote) == 1:
			return false
		default:
			x.at++
		}
	}
	return false
}

// pyFormatted reads an f-string up to its closing quote.
func (x *lexer) pyFormatted(mark, quote string) bool {
	x.emit(opener, "", mark)
	if !x.pyParts(mark, quote, false) {
		return false
	}
	x.emit(closer, "", mark)
	x.at += len(quote)
	return true
}

// pyParts reads text and fields, up to the closing quote, or of a format
// specification up to the bracket that ends the field.
func (x *lexer) pyParts(mark, quote string, spec bool) bool {
	from := x.at
	flush := func() {
		if x.at > from {
			x.emit(piece, x.src[from:x.at], mark)
		}
	}
	for x.at < len(x.src) {
		switch c := x.peek(0); {
		case strings.HasPrefix(x.rest(), quote):
			flush()
			return !spec
		case spec && c == '}':
			flush()
			return true
		case c == '\\':
			if spec || x.peek(1) == 'N' {
				return false
			}
			x.at += 2
		case (c == '{' || c == '}') && x.peek(1) == c && !spec:
			x.at += 2
		case c == '{':
			flush()
			if !x.pyField(mark, quote) {
				return false
			}
			from = x.at
		case c == '}' || c == '\n' && len(quote) == 1:
			return false
		default:
			x.at++
		}
	}
	return false
}

// pyField reads one field of an f-string. What only later versions allow in it
// is refused: a backslash, a comment, its own quote, a line end.
func (x *lexer) pyField(mark, quote string) bool {
	depth := len(x.stack)
	if !x.bracket("{") {
		return false
	}
	x.at++
	for x.at < len(x.src) {
		c := x.peek(0)
		inner := len(x.stack) > depth+1
		switch {
		case c == '\\' || c == '#' || c == quote[0] || c == '\n':
			return false
		case c == '!' && !inner && x.peek(1) != '=':
			if k := x.peek(1); (k != 'r' && k != 's' && k != 'a') || x.peek(2) != '}' && x.peek(2) != ':' {
				return false
			}
			x.emit(op, "!", "")
			x.at += 2
		case c == ':' && !inner:
			x.at++
			if !x.pyParts(mark, quote, true) {
				return false
			}
		case c == '}' && !inner:
			x.at++
			return x.bracket("}")
		default:
			if !x.pyToken() {
				return false
			}
		}
	}
	return false
}
