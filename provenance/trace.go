package provenance

import (
	"cmp"
	"math"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/language"
)

// The limits on looking up one value.
const (
	maxTracedBytes  = 256 << 10 // of the value
	maxTracedTokens = 64        // that must all be in one source; a value with more is looked up by its windows
	maxWindows      = 4096
)

// A Tracer says where the arguments of a call came from.
type Tracer struct {
	Key    Key
	Also   []Key // other keys that were used for some of Index
	Index  Index // may be nil: then nothing was seen
	Stated *language.Stated
	Ledger *Ledger

	hasher *hasher          // made when it is first needed, then kept: making one is slow
	begins []floodmark.Span // where records begin, kept for the same reason
}

// Trace says where one value came from. argRole is the argument's name, which
// numbers are matched with.
//
// A value the owner stated has the owner's trust. Any other has the trust of the
// source it was first seen in, however often it is seen again later. A value that
// was put together from several pieces has the lowest trust of the pieces. Trace
// does not look at the mark: the caller joins it, and decides what a person may
// read of the value.
func (t *Tracer) Trace(leaf hook.Leaf, role floodmark.Role, argRole string) floodmark.Argument {
	arg := floodmark.Argument{Path: leaf.Path, Role: role}
	if t.Stated != nil && t.Stated.Has(leaf.Value, leaf.Kind, argRole) {
		arg.Whence, arg.Trust = floodmark.Stated, floodmark.Owner
	}
	if t.Index == nil || t.Ledger == nil || leaf.Kind == hook.Null || leaf.Kind == hook.Bool {
		return arg
	}
	spans, trust, pieced := t.seen(leaf.Value)
	if len(spans) == 0 {
		return arg
	}
	arg.Spans = slices.Clip(spans[:min(len(spans), floodmark.MaxSpans)])
	if arg.Whence != floodmark.Stated {
		arg.Whence, arg.Trust, arg.Pieced = floodmark.Seen, trust, pieced
	}
	return arg
}

// seen returns where a value was seen, its trust, and whether only pieces of it
// were seen.
func (t *Tracer) seen(value string) (spans []floodmark.Span, trust floodmark.Trust, pieced bool) {
	v := t.read(value)
	for _, form := range v.whole {
		if spans := t.first(form); len(spans) > 0 {
			return spans, t.trust(spans[0]), false
		}
	}
	if spans, trust := t.together(v.tokens); len(spans) > 0 {
		return spans, trust, true
	}
	found, trust := t.pieces(v.windows)
	more, lower := t.pieces(v.parts)
	spans = append(found, more...)
	slices.SortFunc(spans, postings.CompareSpans)
	return onePerNode(spans), min(trust, lower), true
}

func (t *Tracer) read(value string) traced { return readValue(t.keyed(), value) }

// keyed returns the hasher for the tracer's keys.
func (t *Tracer) keyed() *hasher {
	if t.hasher == nil {
		t.hasher = newHasher(t.Key)
		t.hasher.beside(t.Also)
	}
	return t.hasher
}

// find looks up a hash that was made under the tracer's key. It also finds places at which the
// token was indexed under one of the other keys.
func (t *Tracer) find(h Hash) []floodmark.Span { return t.findFrom(h, 0, math.MaxInt) }

// findFrom is find from a node on, for at most most places.
func (t *Tracer) findFrom(h Hash, from floodmark.NodeID, most int) []floodmark.Span {
	spans := t.Index.Find(h, from, most)
	if len(t.Also) == 0 {
		return spans
	}
	spans = slices.Clone(spans)
	for _, other := range t.keyed().also[h] {
		spans = append(spans, t.Index.Find(other, from, most)...)
	}
	slices.SortFunc(spans, postings.CompareSpans)
	spans = slices.Compact(spans)
	return spans[:min(len(spans), most)]
}

// first returns a place in each of the oldest nodes with a token, at most [floodmark.MaxSpans].
func (t *Tracer) first(h Hash) []floodmark.Span {
	var nodes []floodmark.Span
	for from := floodmark.NodeID(0); len(nodes) < floodmark.MaxSpans; {
		spans := t.findFrom(h, from, 2*floodmark.MaxSpans) // most contents have a token once
		nodes = append(nodes, onePerNode(spans)...)
		if len(spans) < 2*floodmark.MaxSpans {
			break
		}
		from = nodes[len(nodes)-1].Node + 1
	}
	return nodes[:min(len(nodes), floodmark.MaxSpans)]
}

func (t *Tracer) trust(s floodmark.Span) floodmark.Trust { return t.Ledger.Effective(s.Node).Trust }

// together returns a place in each of the oldest sources that have all of these tokens, at most
// [floodmark.MaxSpans]. The trust is the lowest of the sources in which a token was first seen.
func (t *Tracer) together(tokens []Hash) (all []floodmark.Span, trust floodmark.Trust) {
	trust = floodmark.System
	seen := make([]places, len(tokens))
	node := floodmark.NodeID(0) // no older node has all tokens
	for i, h := range tokens {
		seen[i] = places{tracer: t, hash: h}
		first, ok := seen[i].from(0)
		if !ok {
			return nil, floodmark.Untrusted
		}
		trust, node = min(trust, t.trust(first)), max(node, first.Node)
	}
	for len(all) < floodmark.MaxSpans && len(seen) > 0 {
		for i, agree := 0, 0; agree < len(seen); i = (i + 1) % len(seen) {
			s, ok := seen[i].from(node)
			if !ok {
				return all, trust
			}
			if s.Node > node {
				node, agree = s.Node, 0
			}
			agree++
		}
		s, _ := seen[0].from(node)
		all = append(all, s)
		node++
	}
	return all, trust
}

// places reads the places of one token, some at a time.
type places struct {
	tracer *Tracer
	hash   Hash
	some   []floodmark.Span // the places that were read and are still needed, oldest first
	last   bool             // there are no more after these
}

// placesAtOnce is how many places of a token are read at once. Few tokens of a session have more.
const placesAtOnce = 64

// from returns the first place in node n or a newer one. The next call must not ask for an older node.
func (p *places) from(n floodmark.NodeID) (floodmark.Span, bool) {
	before := func(s floodmark.Span, n floodmark.NodeID) int { return cmp.Compare(s.Node, n) }
	at, _ := slices.BinarySearchFunc(p.some, n, before)
	if p.some = p.some[at:]; len(p.some) == 0 && !p.last {
		p.some = p.tracer.findFrom(p.hash, n, placesAtOnce)
		p.last = len(p.some) < placesAtOnce
	}
	if len(p.some) == 0 {
		return floodmark.Span{}, false
	}
	return p.some[0], true
}

// pieces returns where each of these hashes was first seen, and the lowest trust of these sources.
func (t *Tracer) pieces(hashes []Hash) ([]floodmark.Span, floodmark.Trust) {
	var found []floodmark.Span
	trust := floodmark.System
	for _, h := range hashes {
		if spans := t.findFrom(h, 0, 1); len(spans) > 0 {
			found = append(found, spans[0])
			trust = min(trust, t.trust(spans[0]))
		}
	}
	return found, trust
}

// onePerNode returns the first place in every node, in a slice of its own.
func onePerNode(spans []floodmark.Span) []floodmark.Span {
	first := make([]floodmark.Span, 0, len(spans))
	for _, s := range spans {
		if len(first) == 0 || first[len(first)-1].Node != s.Node {
			first = append(first, s)
		}
	}
	return first
}

// traced holds the hashes that are looked up for a value, the surest first.
type traced struct {
	whole   []Hash // the value as one token, in every form it may have
	tokens  []Hash // all of which must be in one source
	windows []Hash // five words in a row
	parts   []Hash // the host of a URL and the like
}

func readValue(h *hasher, value string) traced {
	value = value[:min(len(value), maxTracedBytes)]
	var v traced
	token, win := h.token, window{text: h.words[:0]}
	pieces, plain := 0, 0
	tokens.ScanText(value, func(p tokens.Piece) bool {
		token = tokens.AppendToken(token[:0], p)
		if p.Kind != tokens.Quoted && len(token) > 0 {
			pieces++
			if len(v.windows) < maxWindows && win.push(token, p.Start) {
				v.windows = append(v.windows, h.bytes(win.text))
				win.slide(1)
			}
		}
		if len(token) == 0 || p.Kind == tokens.Quoted || plain >= maxTracedTokens || usualWord(p.Kind, token) {
			return len(v.windows) < maxWindows
		}
		plain++
		v.tokens = append(v.tokens, h.bytes(token))
		if p.Kind != tokens.Word && p.Kind != tokens.Name && p.Kind != tokens.Address && p.Kind != tokens.Account { // these kinds have no parts
			for part := range parts(p.Kind, string(token)) {
				v.parts = append(v.parts, h.text(part))
			}
		}
		return true
	})
	h.token, h.words = token, win.text
	v.finish(h, value, pieces, plain)
	return v
}

// finish adds the hashes of the whole value. It drops the tokens if there are too many.
func (v *traced) finish(h *hasher, value string, pieces, plain int) {
	if len(value) <= tokens.MaxTokenBytes && (plain > 0 || pieces > 1) {
		h.in = tokens.AppendNormal(h.in[:0], value)
		v.whole = append(v.whole, h.bytes(h.in))
	}
	if pieces == 1 && plain == 1 {
		v.whole = append(v.whole, v.tokens[0])
		if p, ok := tokens.WholePiece(value); ok && p.Kind == tokens.Number {
			v.whole, v.parts = append(v.whole, v.parts...), nil
		}
	}
	if plain >= maxTracedTokens {
		v.tokens = nil
	}
}

func usualWord(kind tokens.TokenKind, token []byte) bool {
	return (kind == tokens.Word || kind == tokens.Name) && usual(token)
}

// Whole returns where a value was seen as a whole, not only in parts, so that
// nothing was added to the value since.
func (t *Tracer) Whole(value string) []floodmark.Span {
	if t.Index == nil {
		return nil
	}
	for _, form := range t.read(value).whole {
		if spans := t.first(form); len(spans) > 0 {
			return spans
		}
	}
	return nil
}
