package language

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/lookalike"
)

// maxStatedBytes bounds how much of one message is looked at. It is more than a
// person types; a long paste is a source of its own and does not come here.
const maxStatedBytes = 256 << 10

// maxNameWords is how many words a name may have. A single word is a name only if
// it begins with a capital letter.
const maxNameWords = 8

// Stated is what the owner typed, ready for strict matching: the only
// reason to raise trust. The zero value is ready. It is rebuilt from facts and
// never written down.
//
// A planted look-alike must not profit from what the owner said, so only whole
// tokens match, as they were typed. Tokens inside a quoted string of several words
// do not match by themselves, because the string may be the title of a text by
// others.
type Stated struct {
	tokens  map[statedToken]struct{}
	quoted  map[string]struct{}
	names   map[string]struct{}
	hosts   map[string]struct{}       // of the URLs
	words   map[string]struct{}       // in lower case, without quoted words
	beside  map[string][]string       // for each word the words right before it, all in lower case
	numbers map[string][]statedNumber // by plain form
}

// A statedToken is a token in its strict form. The same characters can be tokens of
// two kinds, which are different tokens.
type statedToken struct {
	kind tokens.TokenKind
	form string
}

// An item is one token of a message as it was typed.
type item struct {
	tokens.Piece
	raw   string
	inner bool // inside a quoted string of several tokens
	clean bool // nothing is attached to it on either side
	apart bool // more than blanks is between this item and the one before
	label bool // a colon or an equals sign is before it: «amount: 50»
	// sentence means that a new sentence or line began before it.
	sentence bool
}

// Add adds a message of the owner.
func (s *Stated) Add(text string) {
	s.take(readItems(typed(text)))
}

// typed returns as much of a message as is looked at, up to a whole token, with
// a blank between its sentences.
func typed(text string) string {
	if len(text) > maxStatedBytes {
		text = text[:strings.LastIndexAny(text[:maxStatedBytes], " \t\r\n")+1]
	}
	return unglue(text)
}

func (s *Stated) take(items []item) {
	if s.tokens == nil {
		s.tokens, s.numbers = map[statedToken]struct{}{}, map[string][]statedNumber{}
		s.quoted, s.names, s.hosts = map[string]struct{}{}, map[string]struct{}{}, map[string]struct{}{}
		s.words, s.beside = map[string]struct{}{}, map[string][]string{}
	}
	for i, it := range items {
		s.addItem(items, i, it)
		if isWordItem(it) {
			s.words[strings.ToLower(it.Folded)] = struct{}{}
		}
	}
	s.addNames(items)
	s.addBeside(items)
}

func (s *Stated) addItem(items []item, i int, it item) {
	switch {
	case it.Kind == tokens.Quoted:
		if !it.inner {
			s.quoted[it.raw] = struct{}{}
		}
	case it.inner || !it.clean:
	case it.Kind == tokens.Number:
		s.addNumber(items, i, it.raw)
	case it.Kind == tokens.Word || it.Kind == tokens.Name: // runs of these are names
	default:
		number, isNumber := strings.CutPrefix(it.raw, "#")
		if it.Kind == tokens.Account || isNumber && tokens.Only(number, "0123456789") {
			s.addNumber(items, i, number)
		}
		if host := tokens.URLHost(it.raw); it.Kind == tokens.URL && host != "" {
			s.hosts[host] = struct{}{}
		}
		s.tokens[strictToken(it.Kind, it.raw)] = struct{}{}
	}
}

// HasHost reports whether the owner named a host, alone or in a URL. That only means that the agent
// may read there, not that it may send something there.
func (s *Stated) HasHost(host string) bool {
	host = strings.ToLower(host)
	_, ok := s.hosts[host]
	return ok || host != "" && s.hasToken(host)
}

// HasWord reports whether the owner used a word, in any case.
func (s *Stated) HasWord(word string) bool {
	_, ok := s.words[strings.ToLower(word)]
	return ok
}

// Has reports whether the owner stated this value: as a whole token, a whole
// quoted string or a whole name. A number must stand beside a word that names
// the role it is used in. Nothing needs to be stated for a value that says
// nothing: null, false, the empty string.
func (s *Stated) Has(value string, kind hook.LeafKind, role string) bool {
	switch {
	case kind == hook.Null || value == "":
		return true
	case kind == hook.Bool:
		return value == "false"
	case len(value) > tokens.MaxTokenBytes:
		return false
	}
	if plain, ok := tokens.AsNumber(value); ok {
		return s.hasNumber(value, plain, kind, role)
	}
	if _, ok := s.quoted[value]; ok {
		return true
	}
	if _, ok := s.names[value]; ok {
		return true
	}
	return s.hasToken(value)
}

// maxGiven bounds what [Stated.Numbers] and [Stated.Names] return.
const maxGiven = 16

// Numbers returns the numbers the owner typed, in order.
func (s *Stated) Numbers() []float64 {
	var list []float64
	for _, plain := range slices.Sorted(maps.Keys(s.numbers)) {
		if n, err := strconv.ParseFloat(plain, 64); err == nil && len(list) < maxGiven {
			list = append(list, n)
		}
	}
	return list
}

// Names returns the names that consist of a single word, except very short ones.
func (s *Stated) Names() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		if !strings.Contains(name, " ") && len(name) >= shortTitle && len(list) < maxGiven {
			list = append(list, name)
		}
	}
	return list
}

// HasOnly reports whether a value is the one thing of its kind that the owner
// named, so that «go ahead and book it», or «send them», can mean nothing else.
func (s *Stated) HasOnly(value string) bool {
	if _, ok := s.quoted[value]; ok {
		return len(s.quoted) == 1
	}
	p, ok := tokens.WholePiece(value)
	if !ok {
		return false
	}
	if _, ok := s.tokens[strictToken(p.Kind, value)]; !ok || p.Kind != tokens.Address && p.Kind != tokens.Account {
		return false
	}
	same := 0
	for t := range s.tokens {
		if t.kind == p.Kind {
			same++
		}
	}
	return same == 1
}

// HasName reports whether the owner mentioned this name.
func (s *Stated) HasName(value string) bool {
	_, ok := s.names[value]
	return ok
}

func (s *Stated) hasToken(value string) bool {
	kind := tokens.Path // with blanks in it
	if p, ok := tokens.WholePiece(value); ok {
		kind = p.Kind
	}
	_, ok := s.tokens[strictToken(kind, value)]
	return ok
}

// strictToken returns a token so that two are equal only if they mean the same
// thing to everyone: the case of a host does not matter, nor do the blanks in
// an account and the slash at the end of a directory.
func strictToken(kind tokens.TokenKind, raw string) statedToken {
	form := raw
	switch kind {
	case tokens.URL:
		form = strictURL(raw)
	case tokens.Address:
		local, domain, _ := strings.Cut(raw, "@")
		form = local + "@" + lowerASCII(domain)
	case tokens.Account:
		form = strings.Join(strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune(" -().", r) }), "")
	case tokens.Path:
		form = strings.TrimSuffix(strings.ReplaceAll(raw, `\ `, " "), "/")
	}
	return statedToken{kind: kind, form: form}
}

func strictURL(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	if !strings.Contains(host, "@") {
		host = lowerASCII(host)
	}
	if path == "" && (scheme == "http" || scheme == "https") {
		path = "/"
	}
	return scheme + "://" + host + path
}

// lowerASCII leaves other letters alone: folding those can turn one host into
// another.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if tokens.IsUpper(c) {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}

// readItems returns the tokens of a message with what surrounds them.
func readItems(text string) []item {
	items := make([]item, 0, min(len(text)/4, 64))
	var quoteEnd, quote, inside int
	tokens.ScanText(text, func(p tokens.Piece) bool {
		if p.Kind == tokens.Quoted && quoteEnd > 0 && p.Start > quoteEnd && utf8.RuneCountInString(text[quoteEnd:p.Start]) == 1 {
			return true // the mark that closes a quote opens no other
		}
		it := item{Piece: p, raw: text[p.Start:p.End], clean: isClean(text, p.Start, p.End, p.Kind)}
		it.inner = p.Start < quoteEnd
		if p.Kind == tokens.Quoted && !it.inner {
			quoteEnd, quote, inside = p.End, len(items), 0
		} else if it.inner {
			inside++
			if inside == 1 && it.raw == items[quote].raw {
				it.inner = false // the quoted string is this one token
			}
		}
		if p.End-p.Start >= tokens.MaxTokenBytes {
			it.clean = false // it may have been cut
		}
		it.follow(text, items)
		items = append(items, it)
		return true
	})
	return items
}

// follow notes what is between an item and the one before it. An item with nothing
// between, such as the first token inside quotes, is apart.
func (it *item) follow(text string, before []item) {
	it.apart = true
	if len(before) == 0 || before[len(before)-1].End >= it.Start {
		return
	}
	between := text[before[len(before)-1].End:it.Start]
	sign := strings.Trim(between, " \t")
	it.apart = sign != ""
	it.label = sign == ":" || sign == "="
	it.sentence = strings.ContainsAny(between, ".!?;\n")
}

// isClean reports whether text[start:end] is not a part of something longer.
func isClean(text string, start, end int, kind tokens.TokenKind) bool {
	if kind == tokens.Address && strings.HasSuffix(text[:start], "<") && strings.HasPrefix(text[end:], ">") {
		return true
	}
	bold := start > 0 && text[start-1] == '*'
	return cleanBefore(text[:start]) && cleanAfter(text[end:], kind, bold)
}

func cleanBefore(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	switch {
	case size == 0 || unicode.IsSpace(r):
		return true
	case r < utf8.RuneSelf:
		return strings.ContainsRune("([{<\"'`,;:=*", r)
	}
	return isSymbol(r, "\"'") || strings.ContainsRune("，、：；（。！？", r)
}

func cleanAfter(after string, kind tokens.TokenKind, bold bool) bool {
	if kind == tokens.Address && after != "" && (after[0] == ',' || after[0] == ';') {
		return true
	}
	if rest, ok := strings.CutPrefix(after, "'s"); ok {
		after = rest
	}
	after = strings.TrimLeft(after, ".,;:!?)]}>\"'`")
	if bold {
		after = strings.TrimLeft(after, "*.,;:!?)]}>\"'`")
	}
	r, size := utf8.DecodeRuneInString(after)
	if strings.ContainsRune("：；（）！？", r) && (len(after) == size || !tokens.IsAlnum(after[size])) {
		return true
	}
	return size == 0 || unicode.IsSpace(r) || (r >= utf8.RuneSelf && isSymbol(r, "\"'.,-"))
}

// isSymbol reports whether r, which is not ASCII, ends a token: an emoji or a
// typographic quote does, but no letter or digit, nothing invisible, and no
// look-alike of an ASCII character except those in plain.
func isSymbol(r rune, plain string) bool {
	if r == utf8.RuneError || lookalike.Invisible(r) || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
		return false
	}
	like := lookalike.Of(r)
	return like >= utf8.RuneSelf || strings.ContainsRune(plain, like)
}
