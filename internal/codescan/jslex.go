package codescan

import (
	"strings"
	"unicode/utf8"
)

const jsOperators = " ... >>>= === !== **= <<= >>= >>> &&= ||= ??= => ++ -- ** << >> <= >= == != && || ?? ?. += -= *= /= %= &= |= ^= + - * / % & | ^ ~ ! < > = . , : ; ? @ "

// lexJavaScript cuts a text in JavaScript or TypeScript into tokens. Where it
// is not certain whether a slash divides, the text is not understood.
func lexJavaScript(src string, strict bool) (*lexer, bool) {
	x := &lexer{src: src, strict: strict}
	if !utf8.ValidString(src) || !clean(src) || strings.ContainsAny(src, "\u2028\u2029\ufeff") {
		return x, false
	}
	x.list = make([]token, 0, len(src)/6+8)
	for x.at < len(src) {
		if !x.jsToken() {
			return x, false
		}
	}
	return x, !strict || len(x.stack) == 0
}

func (x *lexer) jsToken() bool {
	two := x.src[x.at:min(x.at+2, len(x.src))]
	switch c := x.src[x.at]; {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		x.at++
	case two == "//":
		line, _, _ := strings.Cut(x.rest(), "\n")
		x.at += len(line)
		x.notes = append(x.notes, line[2:])
	case two == "/*":
		n := strings.Index(x.src[x.at+2:], "*/")
		if n < 0 {
			return false
		}
		x.notes = append(x.notes, x.src[x.at+2:x.at+2+n])
		x.at += n + 4
	case isLetter(c) || c == '$' || c == '#' && isLetter(x.peek(1)) && x.at > 0:
		return x.jsWord()
	case c == '"' || c == '\'':
		return x.jsString(c)
	case c == '`':
		return x.jsTemplate()
	case isDigit(c) || c == '.' && isDigit(x.peek(1)):
		return x.jsNumber()
	case c == '/':
		return x.jsSlash()
	case strings.IndexByte("([{)]}", c) >= 0:
		x.at++
		return x.bracket(x.src[x.at-1 : x.at])
	default:
		w := x.operator(jsOperators)
		rest := x.rest()
		if w == "" || strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "-->") || strings.HasPrefix(rest, "*/") {
			return false
		}
		if w == "?." && isDigit(x.peek(2)) {
			w = "?"
		}
		x.at += len(w)
		x.emit(op, w, "")
		return w != "." && w != "?." || !dangling(x.src, x.at)
	}
	return true
}

func (x *lexer) jsWord() bool {
	n := 1
	for isWord(x.peek(n)) || x.peek(n) == '$' {
		n++
	}
	w := x.src[x.at : x.at+n]
	x.at += n
	x.emit(name, w, "")
	return x.peek(0) < utf8.RuneSelf && x.peek(0) != '\\'
}

func (x *lexer) jsNumber() bool {
	from := x.at
	for isWord(x.peek(0)) || x.peek(0) == '.' && x.peek(1) != '.' {
		x.at++
		if e := x.src[x.at-1]; (e == 'e' || e == 'E') && (x.peek(0) == '+' || x.peek(0) == '-') && !strings.HasPrefix(x.src[from:], "0x") {
			x.at++
		}
	}
	w := x.src[from:x.at]
	x.emit(number, w, "")
	if dot := strings.IndexByte(w, '.'); dot >= 0 && dot+1 < len(w) && isLetter(w[dot+1]) && w[dot+1] != 'e' {
		return false // «1.x»
	}
	return strings.Trim(strings.ToLower(w), "0123456789abcdefxo_.n+-") == "" && x.peek(0) < utf8.RuneSelf && x.peek(0) != '\\' && x.peek(0) != '$'
}

func (x *lexer) jsString(quote byte) bool {
	x.at++
	from := x.at
	for x.at < len(x.src) {
		switch x.peek(0) {
		case '\\':
			x.at += 2
		case quote:
			x.emit(text, x.src[from:x.at], "")
			x.at++
			return true
		case '\n':
			return false
		default:
			x.at++
		}
	}
	return false
}

// jsTemplate reads a template literal with the code in it.
func (x *lexer) jsTemplate() bool {
	x.at++
	x.emit(opener, "", "")
	from := x.at
	flush := func() {
		if x.at > from {
			x.emit(piece, x.src[from:x.at], "")
		}
	}
	for x.at < len(x.src) {
		switch c := x.peek(0); {
		case c == '\\':
			x.at += 2
		case c == '`':
			flush()
			x.at++
			x.emit(closer, "", "")
			return true
		case c == '$' && x.peek(1) == '{':
			flush()
			depth := len(x.stack)
			if !x.bracket("${") {
				return false
			}
			x.at += 2
			for x.at < len(x.src) && len(x.stack) > depth {
				if !x.jsToken() {
					return false
				}
			}
			from = x.at
		default:
			x.at++
		}
	}
	return false
}

// jsSlash reads a regular expression or a division, whichever it must be.
func (x *lexer) jsSlash() bool {
	if len(x.list) == 0 {
		return false
	}
	last, before := x.list[len(x.list)-1], token{}
	if len(x.list) > 1 {
		before = x.list[len(x.list)-2]
	}
	switch {
	case last.kind == number || last.kind == text || last.kind == closer || last.is("]"):
		return x.jsDivide()
	case last.kind == name && (before.is(".") || before.is("?.") || !jsKeyword(last.word)):
		return x.jsDivide()
	case last.kind == name:
		switch last.word {
		case "this", "super", "null", "true", "false":
			return x.jsDivide()
		case "return", "typeof", "case", "in", "delete", "throw", "else", "do", "instanceof":
			return x.jsPattern()
		}
		return false
	case last.is(")"):
		if last.pair < 1 {
			return false
		}
		switch x.list[last.pair-1].word {
		case "if", "while", "for", "with", "catch", "switch":
			return false
		}
		return x.jsDivide()
	case last.is("}") || last.is("++") || last.is("--") || last.is(">") || last.kind == pattern || last.is("*") || last.is("@"):
		return false
	case last.is("!") && (before.kind == name && !jsKeyword(before.word) || before.is(")") || before.is("]") || before.kind == closer || before.kind == text):
		return false // TypeScript has a sign that follows a value
	}
	return x.jsPattern()
}

func (x *lexer) jsDivide() bool {
	w := x.operator(jsOperators)
	if w != "/" && w != "/=" {
		return false
	}
	x.at += len(w)
	x.emit(op, w, "")
	return true
}

func (x *lexer) jsPattern() bool {
	from := x.at
	class := false
	for x.at++; x.at < len(x.src); x.at++ {
		switch c := x.peek(0); {
		case c == '\n':
			return false
		case c == '\\':
			x.at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			x.at++
			for isWord(x.peek(0)) {
				x.at++
			}
			x.emit(pattern, x.src[from:x.at], "")
			return x.at-from > 2
		}
	}
	return false
}
