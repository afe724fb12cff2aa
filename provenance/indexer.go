package provenance

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// An Indexer makes the postings of one text after the other and reuses its memory. It is not safe
// for concurrent use.
type Indexer struct {
	*hasher
	out    Postings
	seen   seenTokens
	token  []byte
	window window
	stride int
	spare  Postings
	counts []uint32
	links  []int // the offsets of URLs
}

// Postings is [Key.Postings].
func (ix *Indexer) Postings(k Key, text string) Postings {
	if ix.hasher == nil || ix.key != k {
		ix.hasher = newHasher(k).forMany()
	}
	ix.stride, ix.out, ix.links = shingleStride, ix.out[:0], ix.links[:0]
	ix.window.words, ix.window.text = 0, ix.window.text[:0]
	ix.seen.begin(k, len(text)/bytesPerToken)
	tokens.ScanText(text, ix.add)
	if len(ix.out) >= postings.MaxPostings {
		ix.links = ix.links[:0] // the rest of the text, which was not read, may have more links
	}
	tokens := ix.postings()
	ix.out = ix.out[:0]
	if !ix.fields(text) {
		ix.labels(text)
	}
	if len(ix.out) == 0 {
		return tokens
	}
	ix.forgetLinks(postings.MaxPostings - len(tokens))
	ix.sort()
	fields := slices.Compact(ix.out[:min(len(ix.out), postings.MaxPostings-len(tokens))])
	return mergePostings(tokens, fields)
}

// mergePostings returns both in order, each posting once.
func mergePostings(a, b Postings) Postings {
	out := make(Postings, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := postings.Compare(a[0], b[0]); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			a = a[1:]
		}
	}
	return append(append(out, a...), b...)
}

func (ix *Indexer) add(p tokens.Piece) bool {
	if len(ix.out) >= postings.MaxPostings {
		return false
	}
	ix.token = tokens.AppendToken(ix.token[:0], p)
	if len(ix.token) == 0 {
		return true
	}
	if p.Kind != tokens.Quoted && ix.window.push(ix.token, p.Start) {
		ix.post(ix.bytes(ix.window.text), ix.window.start())
		ix.window.slide(ix.stride)
	}
	ix.noteLink(p)
	again, perhaps := ix.seen.again(p.Kind, ix.token)
	if again || perhaps && usualWord(p.Kind, ix.token) {
		return true
	}
	ix.post(ix.bytes(ix.token), p.Start)
	if hasParts(p.Kind, ix.token) {
		for part := range parts(p.Kind, string(ix.token)) {
			ix.post(ix.text(part), p.Start)
		}
	}
	return true
}

// hasParts reports whether a token may have parts by which it is quoted. It is quicker than [parts],
// and may be true for a token that has none.
func hasParts(kind tokens.TokenKind, token []byte) bool {
	switch kind {
	case tokens.ID:
		return isFrame(token[0]) || isFrame(token[len(token)-1]) || tokens.IsDigit(token[0])
	case tokens.Number:
		for _, c := range token {
			if !tokens.IsDigit(c) {
				return true
			}
		}
		return token[0] == '0'
	case tokens.URL, tokens.Path:
		return true
	}
	return false
}

// isFrame reports whether c is a sign around an id that may be left out when the id is quoted.
func isFrame(c byte) bool { return c == '#' || c == '@' || c == '_' || c == '$' }

// usual reports whether a word is too common to say where a value came from.
func usual(word []byte) bool {
	return (len(word) == 1 && tokens.IsLetter(word[0])) || tokens.Common(string(word))
}

func (ix *Indexer) post(h Hash, offset int) {
	ix.out = append(ix.out, Posting{Hash: h, Offset: uint32(offset)})
}

// postings returns the collected postings in order, each token once, with its first offset.
func (ix *Indexer) postings() Postings {
	ix.sort()
	out := slices.CompactFunc(ix.out, func(a, b Posting) bool { return a.Hash == b.Hash })
	return slices.Clone(out[:min(len(out), postings.MaxPostings)]) // the result is kept, so it must not hold spare memory
}

// fewPostings is the length up to which a list is sorted without buckets, and a bucket by insertion.
const fewPostings = 12

// sort puts the postings in order. Each posting is first put into a bucket by the leading bits of
// its hash. Hashes are spread evenly, so the buckets are short, and each is sorted separately.
func (ix *Indexer) sort() {
	n := len(ix.out)
	if n <= fewPostings {
		slices.SortFunc(ix.out, postings.Compare)
		return
	}
	shift := 64 - bits.Len(uint(n))
	buckets := 1 << bits.Len(uint(n))
	ix.counts = slices.Grow(ix.counts[:0], buckets+1)[:buckets+1]
	clear(ix.counts)
	for _, p := range ix.out {
		ix.counts[p.Hash>>shift+1]++
	}
	for i := range buckets {
		ix.counts[i+1] += ix.counts[i]
	}
	ix.spare = slices.Grow(ix.spare[:0], n)[:n]
	for _, p := range ix.out {
		at := &ix.counts[p.Hash>>shift]
		ix.spare[*at] = p
		*at++
	}
	// Now counts has the end of every bucket.
	begin := uint32(0)
	for _, end := range ix.counts[:buckets] {
		if end-begin > 1 {
			sortFew(ix.spare[begin:end])
		}
		begin = end
	}
	ix.out, ix.spare = ix.spare, ix.out
}

// sortFew sorts the postings of a bucket. It mostly has two, or many of one hash that are in order
// already.
func sortFew(list Postings) {
	if len(list) > fewPostings {
		slices.SortFunc(list, postings.Compare)
		return
	}
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && postings.Compare(list[k], list[k-1]) < 0; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}

// bytesPerToken is how many bytes of ordinary text there are for each different token in it.
const bytesPerToken = 16

// knownTokens bounds the tokens of one text that [seenTokens] remembers.
const knownTokens = 1 << 16

// seenTokens remembers the tokens of a text by a keyed hash, so that a repeated token is not hashed,
// kept and sorted again. Two tokens with the same hash are taken for one, as in the index itself.
type seenTokens struct {
	of    Key
	key   sipKey
	table []uint64 // a power of two; 0 is free
	used  int
	usual [1 << 15 / 64]uint64 // a bit for the hash of every usual word
}

// begin forgets all tokens and makes room for about count tokens.
func (s *seenTokens) begin(k Key, count int) {
	if s.of != k || s.table == nil {
		s.of, s.key = k, sipKey{binary.LittleEndian.Uint64(k[:]), binary.LittleEndian.Uint64(k[8:])}
		clear(s.usual[:])
		for word := range strings.SplitSeq(tokens.UsualWords(), "\n") {
			at := s.key.sum([]byte(word)) >> 49
			s.usual[at/64] |= 1 << (at % 64)
		}
		for c := 'a'; c <= 'z'; c++ { // a single letter is a usual word, too
			at := s.key.sum([]byte{byte(c)}) >> 49
			s.usual[at/64] |= 1 << (at % 64)
		}
	}
	size := 1 << bits.Len(uint(min(2*count+64, 2*knownTokens-1)))
	s.table, s.used = slices.Grow(s.table[:0], size)[:size], 0
	clear(s.table)
}

// again reports whether a token was seen before with the same kind; as another kind the same text
// has other parts. usual reports whether a new token may be a usual word. Only then must the caller
// look it up in the list of usual words, which takes as long as all the rest.
func (s *seenTokens) again(kind tokens.TokenKind, token []byte) (again, usual bool) {
	if kind == tokens.Name {
		kind = tokens.Word
	}
	h := s.key.sum(token)
	usual = s.usual[h>>55]&(1<<(h>>49%64)) != 0
	h = (h ^ uint64(kind)<<60) | 1
	for at := h >> 1; ; at++ {
		slot := &s.table[at&uint64(len(s.table)-1)]
		switch *slot {
		case h:
			return true, false
		case 0:
			if s.used < knownTokens {
				*slot = h
				if s.used++; s.used > len(s.table)/2 && len(s.table) < 2*knownTokens {
					s.grow()
				}
			}
			return false, usual
		}
	}
}

func (s *seenTokens) grow() {
	old := s.table
	s.table = make([]uint64, 2*len(old))
	for _, h := range old {
		if h == 0 {
			continue
		}
		at := h >> 1
		for s.table[at&uint64(len(s.table)-1)] != 0 {
			at++
		}
		s.table[at&uint64(len(s.table)-1)] = h
	}
}
