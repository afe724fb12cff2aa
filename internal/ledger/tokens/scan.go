package tokens

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
	// unclosed is, for each kind of quote, up to where no closing one was found.
	unclosed [3]int
	// few and more are the tokens of the last step, n of them in few. They are
	// handed over instead of calling back, so that a scan allocates nothing.
	n    int
	few  [8]extent
	more []extent
}

// An extent is where a token stands in the folded text.
type extent struct {
	kind     TokenKind
	from, to int
}

func (sc *scanner) emit(kind TokenKind, from, to int) {
	if sc.n < len(sc.few) {
		sc.few[sc.n] = extent{kind, from, to}
		sc.n++
		return
	}
	sc.more = append(sc.more, extent{kind, from, to})
}

// at returns the i-th token of the last step.
func (sc *scanner) at(i int) extent {
	if i < sc.n {
		return sc.few[i]
	}
	return sc.more[i-sc.n]
}

// step finds the next tokens. It returns false at the end of the text.
func (sc *scanner) step() bool {
	sc.n, sc.more = 0, sc.more[:0]
	for sc.i < len(sc.s) && sc.n == 0 {
		switch c := sc.s[sc.i]; {
		case isSpaceByte(c):
			sc.i++
		case IsLetter(c):
			sc.word()
		case c == '"' || c == '\'' || c == '`':
			sc.quote(c)
		case c == '\\':
			sc.backslash()
		case c >= utf8.RuneSelf:
			sc.foreign()
		case IsDigit(c) || isJoiner(c):
			sc.chunk()
		default:
			sc.i++
		}
	}
	return sc.n > 0
}

// word is the fast path for plain words, which are most of any text.
func (sc *scanner) word() {
	from, to := sc.i, sc.i+1
	for to < len(sc.s) && IsLetter(sc.s[to]) {
		to++
	}
	if to < len(sc.s) {
		c := sc.s[to]
		plain := isSpaceByte(c) || c == ',' || c == ')' || c == '"' || c == ';' || c == '<'
		if !plain && (c != '.' || (to+1 < len(sc.s) && !isSpaceByte(sc.s[to+1]))) {
			sc.chunk()
			return
		}
	}
	if to-from > MaxTokenBytes {
		sc.chunk()
		return
	}
	sc.i = to
	sc.emit(wordKind(sc.s[from:to]), from, to)
}

// quote emits what stands between this quote and its partner, if it has one,
// and goes on inside. An apostrophe is no quote.
func (sc *scanner) quote(c byte) {
	open := sc.i
	sc.i++
	if open > 0 && isWordByte(sc.s[open-1]) {
		return
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
			if strings.TrimSpace(sc.s[open+1:at]) != "" {
				sc.emit(Quoted, open+1, at)
			}
			return
		}
		from = next
	}
	sc.unclosed[kind] = end
}

// backslash skips an escaped character, as in JSON that was not decoded, or
// reads a Windows path.
func (sc *scanner) backslash() {
	rest := sc.s[sc.i:]
	switch {
	case len(rest) > 2 && rest[1] == '\\' && IsAlnum(rest[2]) && (sc.i == 0 || !isWordByte(sc.s[sc.i-1])):
		sc.emitUntil(Path, sc.i, sc.i+windowsEnd(rest))
	case len(rest) > 5 && rest[1] == 'u' && isHex(rest[2:6]):
		sc.i += 6
	case len(rest) > 1 && strings.IndexByte("nrt\"'\\", rest[1]) >= 0:
		sc.i += 2
	default:
		sc.i++
	}
}

// foreign reads a word of letters beyond ASCII, or skips a symbol. Scripts
// without blanks between words give a word for each character.
func (sc *scanner) foreign() {
	r, size := utf8.DecodeRuneInString(sc.s[sc.i:])
	switch {
	case unspaced(r):
		sc.i += size
		sc.emit(Word, sc.i-size, sc.i)
		return
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		sc.chunk()
		return
	case unicode.Is(unicode.Sc, r):
		if n, _ := numberLen(sc.s[sc.i:]); n > 0 {
			sc.emitUntil(Number, sc.i, sc.i+n)
			return
		}
	}
	sc.i += size
}

// chunk takes the longest run of characters that can stand in one token and
// finds out what it is.
func (sc *scanner) chunk() {
	from := sc.i
	if kind, to, ok := sc.spaced(from); ok {
		sc.emitUntil(kind, from, to)
		return
	}
	to := runEnd(sc.s, from)
	run := sc.s[from:to]
	if strings.HasPrefix(sc.s[from:], "www.") && to > from+4 {
		sc.emitUntil(URL, from, from+urlEnd(sc.s[from:]))
		return
	}
	if at := strings.Index(run, "://"); at >= 0 {
		begin := from + schemeStart(run[:at])
		if begin < from+at {
			sc.inside(from, begin)
			sc.emitUntil(URL, begin, begin+urlEnd(sc.s[begin:]))
			return
		}
	}
	if len(run) == 2 && run[1] == ':' && IsLetter(run[0]) && strings.HasPrefix(sc.s[to:], "\\") {
		sc.emitUntil(Path, from, from+windowsEnd(sc.s[from:]))
		return
	}
	sc.inside(from, sc.blankInPath(from, to))
}

// inside emits the tokens of a run that is no URL.
func (sc *scanner) inside(from, to int) {
	for from < to {
		begin, end := trimRun(sc.s, from, to)
		if begin >= end || sc.s[from:to] == "'s" { // «Bob's» is Bob
			break
		}
		cut := begin + splitAt(sc.s[begin:end])
		stop, last := trimRun(sc.s, begin, cut)
		if hasWordByte(sc.s[stop:last]) {
			sc.emitUntil(classify(sc.s[stop:last]), stop, last)
		}
		from = max(cut, begin+1)
	}
	sc.i = max(sc.i, to)
}

// emitUntil emits one token and goes on behind it. It cuts a token that is too long.
func (sc *scanner) emitUntil(kind TokenKind, from, to int) {
	sc.i = max(sc.i, to)
	for to-from > MaxTokenBytes {
		sc.emit(ID, from, from+MaxTokenBytes)
		from += MaxTokenBytes
	}
	if from != to {
		sc.emit(kind, from, to)
	}
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
		if byteIs(c, letterByte|digitByte|joinerByte) {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if unspaced(r) || (!unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)) {
				return i
			}
			i += size
			continue
		}
		if c != '\'' || !apostrophe(s, i) {
			return i
		}
		i++
	}
	return i
}

// apostrophe reports whether the apostrophe at i is inside a word. No run begins at i.
func apostrophe(s string, i int) bool {
	return isWordByte(s[i-1]) && i+1 < len(s) && isWordByte(s[i+1])
}

func hasWordByte(s string) bool {
	for i := range len(s) {
		if isWordByte(s[i]) {
			return true
		}
	}
	return false
}

func isHex(s string) bool {
	for i := range len(s) {
		if !IsDigit(s[i]) && (s[i]|0x20 < 'a' || s[i]|0x20 > 'f') {
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
