package provenance

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scanner finds the typed tokens of a folded text. It looks at every byte a
// bounded number of times, whatever the text.
type scanner struct {
	s string
	i int
	// unclosed is, for each quote, how far no closing one was found.
	unclosed [3]int

	folder folder
	base   int // where the folded text begins in the text
	left   int // how many tokens may still be emitted
	out    func(piece) bool
}

// emit passes one token on. It returns false if there shall be no more.
func (sc *scanner) emit(kind TokenKind, from, to int) bool {
	sc.left--
	return sc.left >= 0 && sc.out(piece{
		kind: kind, folded: sc.s[from:to],
		start: sc.base + sc.folder.offset(from), end: sc.base + sc.folder.offset(to),
	})
}

// run emits all tokens. It returns false if emit did.
func (sc *scanner) run() bool {
	for sc.i < len(sc.s) {
		c := sc.s[sc.i]
		var going bool
		switch {
		case isSpaceByte(c):
			sc.i++
			continue
		case isLetter(c):
			going = sc.word()
		case c == '"' || c == '\'' || c == '`':
			going = sc.quote(c)
		case c == '\\':
			going = sc.backslash()
		case c >= utf8.RuneSelf:
			going = sc.foreign()
		case isDigit(c) || isJoiner(c):
			going = sc.chunk()
		default:
			sc.i++
			continue
		}
		if !going {
			return false
		}
	}
	return true
}

// word is the quick way for plain words, which are most of any text.
func (sc *scanner) word() bool {
	from, to := sc.i, sc.i+1
	for to < len(sc.s) && isLetter(sc.s[to]) {
		to++
	}
	if to < len(sc.s) {
		c := sc.s[to]
		plain := isSpaceByte(c) || c == ',' || c == ')' || c == '"' || c == ';' || c == '<'
		if !plain && (c != '.' || (to+1 < len(sc.s) && !isSpaceByte(sc.s[to+1]))) {
			return sc.chunk()
		}
	}
	if to-from > MaxTokenBytes {
		return sc.chunk()
	}
	sc.i = to
	return sc.emit(wordKind(sc.s[from:to]), from, to)
}

// quote emits what stands between this quote and its partner, if it has one,
// and goes on inside. An apostrophe is no quote.
func (sc *scanner) quote(c byte) bool {
	open := sc.i
	sc.i++
	if open > 0 && isWordByte(sc.s[open-1]) {
		return true
	}
	kind := strings.IndexByte("\"'`", c)
	end := min(len(sc.s), open+1+MaxTokenBytes)
	from := max(open+1, sc.unclosed[kind])
	for from < end {
		at := strings.IndexByte(sc.s[from:end], c)
		if at < 0 {
			break
		}
		at += from
		next := at + 1
		if next == len(sc.s) || !isWordByte(sc.s[next]) {
			if strings.TrimSpace(sc.s[open+1:at]) == "" {
				return true
			}
			return sc.emit(Quoted, open+1, at)
		}
		from = next
	}
	sc.unclosed[kind] = end
	return true
}

// backslash skips an escaped character, as there are in JSON that was not
// decoded, or reads a path of another system.
func (sc *scanner) backslash() bool {
	rest := sc.s[sc.i:]
	switch {
	case len(rest) > 2 && rest[1] == '\\' && isAlnum(rest[2]) && (sc.i == 0 || !isWordByte(sc.s[sc.i-1])):
		return sc.emitUntil(Path, sc.i, sc.i+windowsEnd(rest))
	case len(rest) > 5 && rest[1] == 'u' && isHex(rest[2:6]):
		sc.i += 6
	case len(rest) > 1 && strings.IndexByte("nrt\"'\\", rest[1]) >= 0:
		sc.i += 2
	default:
		sc.i++
	}
	return true
}

// foreign reads a word of letters beyond ASCII, or skips a symbol. Scripts
// without blanks between words give a word for each character.
func (sc *scanner) foreign() bool {
	r, size := utf8.DecodeRuneInString(sc.s[sc.i:])
	switch {
	case unspaced(r):
		sc.i += size
		return sc.emit(Word, sc.i-size, sc.i)
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return sc.chunk()
	case unicode.Is(unicode.Sc, r):
		if n, _ := numberLen(sc.s[sc.i:]); n > 0 {
			return sc.emitUntil(Number, sc.i, sc.i+n)
		}
	}
	sc.i += size
	return true
}

// chunk takes the longest run of characters that can stand in one token and
// finds out what it is.
func (sc *scanner) chunk() bool {
	from := sc.i
	if kind, to, ok := sc.spaced(from); ok {
		return sc.emitUntil(kind, from, to)
	}
	to := runEnd(sc.s, from)
	run := sc.s[from:to]
	if strings.HasPrefix(sc.s[from:], "www.") && to > from+4 {
		return sc.emitUntil(URL, from, from+urlEnd(sc.s[from:]))
	}
	if at := strings.Index(run, "://"); at >= 0 {
		begin := from + schemeStart(run[:at])
		if begin < from+at {
			return sc.inside(from, begin) && sc.emitUntil(URL, begin, begin+urlEnd(sc.s[begin:]))
		}
	}
	if len(run) == 2 && run[1] == ':' && isLetter(run[0]) && strings.HasPrefix(sc.s[to:], "\\") {
		return sc.emitUntil(Path, from, from+windowsEnd(sc.s[from:]))
	}
	if to == from {
		sc.i++
		return true
	}
	to = sc.blankInPath(from, to)
	return sc.inside(from, to)
}

// inside emits the tokens of a run that is no URL.
func (sc *scanner) inside(from, to int) bool {
	for from < to {
		begin, end := trimRun(sc.s, from, to)
		if begin >= end || sc.s[from:to] == "'s" { // «Bob's» is Bob
			break
		}
		cut := begin + splitAt(sc.s[begin:end])
		stop, last := trimRun(sc.s, begin, cut)
		if hasWordByte(sc.s[stop:last]) && !sc.emitUntil(classify(sc.s[stop:last]), stop, last) {
			return false
		}
		from = max(cut, begin+1)
	}
	sc.i = max(sc.i, to)
	return true
}

// emitUntil emits one token and goes on behind it. What is too long is cut.
func (sc *scanner) emitUntil(kind TokenKind, from, to int) bool {
	sc.i = max(sc.i, to)
	for to-from > MaxTokenBytes {
		if !sc.emit(ID, from, from+MaxTokenBytes) {
			return false
		}
		from += MaxTokenBytes
	}
	return from == to || sc.emit(kind, from, to)
}

// blankInPath lets a path go on behind an escaped blank.
func (sc *scanner) blankInPath(from, to int) int {
	for to-from < MaxTokenBytes && strings.IndexByte(sc.s[from:to], '/') >= 0 && strings.HasPrefix(sc.s[to:], `\ `) {
		next := runEnd(sc.s, to+2)
		if next == to+2 {
			break
		}
		to = next
	}
	return to
}

// runEnd returns where the run of token characters from i on ends.
func runEnd(s string, i int) int {
	for i < len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if unspaced(r) || (!unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)) {
				return i
			}
			i += size
			continue
		}
		if !isAlnum(c) && !isJoiner(c) && !(c == '\'' && apostrophe(s, i)) {
			return i
		}
		i++
	}
	return i
}

func apostrophe(s string, i int) bool {
	return i > 0 && isWordByte(s[i-1]) && i+1 < len(s) && isWordByte(s[i+1])
}

func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool    { return isLetter(c) || isDigit(c) }
func isWordByte(c byte) bool { return isAlnum(c) || c == '_' || c >= utf8.RuneSelf }

func hasWordByte(s string) bool {
	for i := range len(s) {
		if isWordByte(s[i]) {
			return true
		}
	}
	return false
}

// isJoiner reports whether c can stand inside a token that is no word.
func isJoiner(c byte) bool {
	switch c {
	case '.', '-', '_', '/', ':', '@', '#', '$', '%', '+', '~':
		return true
	}
	return false
}

func isHex(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && (s[i]|0x20 < 'a' || s[i]|0x20 > 'f') {
			return false
		}
	}
	return true
}

// unspaced reports whether r belongs to a script that puts no blanks between
// words.
func unspaced(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
