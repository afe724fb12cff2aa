// Package tokens reads text as typed pieces: words, numbers, paths, addresses. Texts
// that look alike give the same token. Reading takes time linear in the length of the
// text, even if that is hostile. The package does not know where a text came from.
package tokens

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/internal/text/lookalike"
)

// A TokenKind says what a token looks like.
type TokenKind uint8

// The kinds of tokens.
const (
	Word    TokenKind = iota // letters: «invoice», «don't»
	Name                     // a word that begins with a capital letter
	Number                   // with sign, currency, decimals: «$1,234.50»
	ID                       // letters mixed with digits, «#123», «2024-05-01», «snake_case»
	Path                     // «/etc/hosts», «~/x», «a/b», «notes.txt», «example.com»
	URL                      // with its scheme, or beginning with www
	Address                  // a mail address
	Account                  // IBAN, card and telephone numbers, eight digits and more
	Quoted                   // all that stands between two quotes
)

func (k TokenKind) String() string {
	names := [...]string{"word", "name", "number", "id", "path", "url", "address", "account", "quoted"}
	if int(k) < len(names) {
		return names[k]
	}
	return "invalid"
}

// The limits on tokens. A longer token is cut into pieces, and a cut piece is
// never something the owner stated.
const (
	MaxTokenBytes = 4096     // the longest URL that servers commonly accept is 8 KiB, the usual one 2 KiB
	MaxTokens     = 16 << 20 // more than one event can carry
)

// blockBytes is how much text is folded at a time; a quoted string that runs
// over the edge of a block is not seen as one.
const blockBytes = 64 << 10

// A Token is one typed piece of a text.
type Token struct {
	Kind TokenKind
	// Text is the token in the form of [Normalise].
	Text string
	// Start and End are where it stands in the text, in bytes; of a quoted
	// string without its quotes.
	Start, End int
}

// Tokens returns the typed tokens of a text, in order, each as long as it can
// be. A quoted string comes before the tokens inside it.
func Tokens(text string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		var buf []byte
		ScanText(text, func(p Piece) bool {
			buf = AppendToken(buf[:0], p)
			text := p.Folded
			if string(buf) != text {
				text = string(buf)
			}
			return yield(Token{Kind: p.Kind, Text: text, Start: p.Start, End: p.End})
		})
	}
}

// A Piece is a token before it is normalised.
type Piece struct {
	Kind       TokenKind
	Folded     string // as it stands in the folded text
	Start, End int    // in the text itself
}

// AppendToken appends the normal form of a piece.
func AppendToken(dst []byte, p Piece) []byte {
	begin := len(dst)
	dst = AppendNormal(dst, p.Folded)
	switch p.Kind {
	case Account: // «DE89 3704 …» and «DE893704…» are one account
		dst = keepAlnum(dst, begin)
	case URL:
		if strings.Contains(p.Folded, "&amp;") {
			dst = append(dst[:begin], strings.ReplaceAll(string(dst[begin:]), "&amp;", "&")...)
		}
		dst = trimSlash(dst, begin)
	case Path:
		dst = trimSlash(dst, begin)
	}
	return dst
}

func trimSlash(b []byte, begin int) []byte {
	if len(b) > begin+1 && b[len(b)-1] == '/' {
		return b[:len(b)-1]
	}
	return b
}

func keepAlnum(b []byte, begin int) []byte {
	n := begin
	for _, c := range b[begin:] {
		if IsAlnum(c) || c == '+' {
			b[n] = c
			n++
		}
	}
	return b[:n]
}

// ScanText calls emit with every piece of text, until emit returns false.
func ScanText(text string, emit func(Piece) bool) {
	var folder folder
	left := MaxTokens
	for base := 0; base < len(text); {
		block := text[base:blockEnd(text, base)]
		folded := folder.fold(block)
		sc := scanner{s: folded}
		for sc.step() {
			for i := range sc.n + len(sc.more) {
				x := sc.at(i)
				left--
				if left < 0 || !emit(Piece{
					Kind: x.kind, Folded: folded[x.from:x.to],
					Start: base + folder.offset(x.from), End: base + folder.offset(x.to),
				}) {
					return
				}
			}
		}
		base += len(block)
	}
}

// blockEnd returns where the block from base on ends: at the end of a line if
// there is one, else at white space, else anywhere.
func blockEnd(text string, base int) int {
	if len(text)-base <= blockBytes {
		return len(text)
	}
	block := text[base : base+blockBytes]
	for _, seps := range []string{"\n", " \t\r"} {
		if at := strings.LastIndexAny(block[blockBytes/2:], seps); at >= 0 {
			return base + blockBytes/2 + at + 1
		}
	}
	end := base + blockBytes
	for end > base+blockBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

// A folder replaces characters by plain ones that look the same, and remembers
// where every byte came from. Plain text is only scanned once, and unchanged.
type folder struct {
	buf    []byte
	shifts []shift
	last   int // the shift that was needed last, and mostly is again
}

// A shift says that from a byte of the folded text on, the text itself is so
// many bytes ahead.
type shift struct{ from, ahead int }

func (f *folder) fold(block string) string {
	f.shifts, f.last = f.shifts[:0], 0
	if isASCII(block) && !strings.Contains(block, `\/`) {
		return block
	}
	f.buf = f.buf[:0]
	for i := 0; i < len(block); {
		plain := i
		for i < len(block) && block[i] < utf8.RuneSelf && block[i] != '\\' {
			i++
		}
		f.buf = append(f.buf, block[plain:i]...)
		if i == len(block) {
			break
		}
		r, size := utf8.DecodeRuneInString(block[i:])
		before := len(f.buf)
		switch {
		case r == '\\' && strings.HasPrefix(block[i+1:], "/"): // a slash in JSON that was not decoded
		case r == '\\':
			f.buf = append(f.buf, '\\')
		case unicode.IsSpace(r):
			f.buf = append(f.buf, ' ')
		default:
			f.buf = lookalike.Append(f.buf, r, false)
		}
		f.moved(before, i, size)
		i += size
	}
	return string(f.buf)
}

// moved records that the size bytes at i of the text became the bytes from before
// on in the folded text. The bytes in the middle of those all map to i.
func (f *folder) moved(before, i, size int) {
	grown := len(f.buf) - before
	if grown == size && (size == 1 || f.buf[before] >= utf8.RuneSelf) { // one character for another
		return
	}
	for k := 1; k < grown; k++ {
		f.shifts = append(f.shifts, shift{from: before + k, ahead: i - before - k})
	}
	f.shifts = append(f.shifts, shift{from: len(f.buf), ahead: i + size - len(f.buf)})
}

// offset returns where byte i of the folded text stands in the text.
func (f *folder) offset(i int) int {
	if len(f.shifts) == 0 || i < f.shifts[0].from {
		return i
	}
	if f.shifts[f.last].from <= i && (f.last+1 == len(f.shifts) || f.shifts[f.last+1].from > i) {
		return i + f.shifts[f.last].ahead
	}
	at, found := slices.BinarySearchFunc(f.shifts, i, func(s shift, i int) int { return cmp.Compare(s.from, i) })
	for found && at+1 < len(f.shifts) && f.shifts[at+1].from == i {
		at++ // several characters that left nothing
	}
	if !found {
		at--
	}
	f.last = at
	return i + f.shifts[at].ahead
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// WholePiece returns the one token that value consists of.
func WholePiece(value string) (Piece, bool) {
	var first Piece
	ScanText(value, func(p Piece) bool {
		first = p
		return false
	})
	return first, first.Start == 0 && first.End == len(value)
}
