package provenance

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/address"
)

// A Key is the secret key of one tenant's hashes. Without the key nobody can use a hash to test
// whether a value was seen.
type Key [32]byte

// String hides the key wherever it is printed.
func (Key) String() string { return "key" }

// GoString hides the key, too.
func (Key) GoString() string { return "provenance.Key{…}" }

// Hash is [postings.Hash].
type Hash = postings.Hash

// Posting is [postings.Posting].
type Posting = postings.Posting

// Postings is [postings.Postings].
type Postings = postings.Postings

// The windows of words kept as evidence. When a text is indexed, a window begins at every fourth
// word; when a text is looked up, at every word. So a copy of eight words in a row is always found.
const (
	shingleWords  = 5
	shingleStride = 4
)

// Hash returns the hash of a token in the form of [Normalise].
func (k Key) Hash(token string) Hash { return newHasher(k).text(token) }

// Postings returns the postings of a text: its tokens, the parts by which a token may be quoted, and
// windows of five words. Common words are left out.
func (k Key) Postings(text string) Postings { return new(Indexer).Postings(k, text) }

// A hasher computes keyed hashes without allocating for each. To compute many it makes a mac, which
// takes long once and then saves time.
type hasher struct {
	key Key
	mac hash.Hash
	few int // how many hashes were computed without mac
	in  []byte
	// token and words are buffers for reading a value.
	token, words []byte
	sum          [sha256.Size]byte
	room         [256]byte // the first memory of the three slices
	// others hash the same tokens under other keys. also maps a hash to the hashes of its token
	// under those keys.
	others []*hasher
	also   map[Hash][]Hash
}

func newHasher(k Key) *hasher {
	h := &hasher{key: k}
	h.in, h.token, h.words = h.room[0:0:64], h.room[64:64:128], h.room[128:128]
	return h
}

// forMany makes h compute many hashes.
func (h *hasher) forMany() *hasher {
	if h.mac == nil {
		h.mac = hmac.New(sha256.New, h.key[:])
	}
	return h
}

// The limits for hashing without a mac: how long a token may be, and how many tokens.
const (
	shortToken = 128
	fewTokens  = 32
)

// bytes hashes a token. The whole HMAC is in h.sum afterwards.
func (h *hasher) bytes(token []byte) Hash {
	if h.mac == nil && len(token) <= shortToken && h.few < fewTokens {
		h.few++
		h.short(token)
	} else {
		h.forMany().mac.Reset()
		h.mac.Write(token) // a hash never fails to write
		h.mac.Sum(h.sum[:0])
	}
	own := Hash(binary.BigEndian.Uint64(h.sum[:]))
	if len(h.others) > 0 {
		h.under(own, token)
	}
	return own
}

// under remembers the hashes of a token under the other keys.
func (h *hasher) under(own Hash, token []byte) {
	if _, done := h.also[own]; done {
		return
	}
	list := make([]Hash, len(h.others))
	for i, o := range h.others {
		list[i] = o.bytes(token)
	}
	h.also[own] = list
}

// beside makes h hash under other keys, too.
func (h *hasher) beside(keys []Key) {
	if len(keys) == 0 {
		return
	}
	h.also = map[Hash][]Hash{}
	for _, k := range keys {
		h.others = append(h.others, newHasher(k))
	}
}

// short computes the HMAC-SHA256 of a short token by its definition, without a mac.
func (h *hasher) short(token []byte) {
	var inner [sha256.BlockSize + shortToken]byte
	var outer [sha256.BlockSize + sha256.Size]byte
	copy(inner[:], h.key[:])
	copy(outer[:], h.key[:])
	for i := range sha256.BlockSize {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	n := copy(inner[sha256.BlockSize:], token)
	sum := sha256.Sum256(inner[:sha256.BlockSize+n])
	copy(outer[sha256.BlockSize:], sum[:])
	h.sum = sha256.Sum256(outer[:])
}

func (h *hasher) text(token string) Hash {
	h.in = append(h.in[:0], token...)
	return h.bytes(h.in)
}

// A window holds the last words of a text, up to five.
type window struct {
	text   []byte // the words, each with a NUL before it, so that no window is a token
	from   [shingleWords]int
	starts [shingleWords]int
	words  int
}

// push adds a word and reports whether the window is full.
func (w *window) push(word []byte, start int) bool {
	w.from[w.words], w.starts[w.words] = len(w.text), start
	w.text = append(append(w.text, 0), word...)
	w.words++
	return w.words == shingleWords
}

// start returns the offset of the first word.
func (w *window) start() int { return w.starts[0] }

// slide drops the first n words of a full window.
func (w *window) slide(n int) {
	cut := w.from[n]
	w.text = w.text[:copy(w.text, w.text[cut:])]
	for i := n; i < w.words; i++ {
		w.from[i-n], w.starts[i-n] = w.from[i]-cut, w.starts[i]
	}
	w.words -= n
}

// parts returns the parts by which a normalised token may be quoted elsewhere: the host of a URL, or
// of a path that begins with a host, the last element of a path, the plain form of a number, an id
// without the signs around it. An address and an account have none, because a part of them means
// something else.
func parts(kind tokens.TokenKind, token string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		part := ""
		switch kind {
		case tokens.URL:
			yieldURLParts(token, yield)
		case tokens.Path:
			if host := cmp.Or(address.HostOfPath(token), address.IPOf(token)); host == "" || yield(host) {
				part = token[strings.LastIndexAny(token, `/\`)+1:]
			}
		case tokens.Number:
			if plain, _, ok := tokens.PlainNumber(token); ok {
				part = plain
			}
		case tokens.ID:
			part = cmp.Or(address.IPOf(token), strings.Trim(token, "#@_$"))
		}
		if part != "" && part != token {
			yield(part)
		}
	}
}

func yieldURLParts(token string, yield func(string) bool) {
	host := tokens.URLHost(token)
	bare, _, _ := strings.Cut(token, "#")
	noQuery, _, _ := strings.Cut(bare, "?")
	ascii := strings.TrimRight(token[:asciiLen(token)], ".,;:!?/")
	seen := []string{token, ""}
	for _, part := range []string{host, strings.TrimSuffix(bare, "/"), strings.TrimSuffix(noQuery, "/"), ascii} {
		if slices.Contains(seen, part) {
			continue
		}
		seen = append(seen, part)
		if !yield(part) {
			return
		}
	}
}

func asciiLen(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return i
		}
	}
	return len(s)
}

// An Index finds where a token was seen in one session. Find returns at most most places, from the
// node from on, the oldest node first.
type Index interface {
	Find(h Hash, from floodmark.NodeID, most int) []floodmark.Span
}
