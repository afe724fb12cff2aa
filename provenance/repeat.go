package provenance

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// A Repeat is a piece of a text that was seen before: a run of words, a name, a link, an address or
// an account.
type Repeat struct {
	From, To int            // its offsets in the text, in bytes
	Words    int            // how many words of it are known to be the same
	Name     bool           // it is a name, a link, an address or an account
	Span     floodmark.Span // where it was first seen
	Trust    floodmark.Trust
}

// Untraceable is how many words a text must have for [Tracer.Repeats] to be sure to find what the
// text repeats: a shorter piece of a content may contain none of the windows that were indexed.
const Untraceable = shingleStride + shingleWords - 1

// Repeats returns the pieces of a text that were first seen in content believed
// at most at limit, in the order in which they end: runs of at least five words
// and names, links, addresses and accounts. At least five of eight copied words
// are found, and nine of twelve. A piece that was first seen in content believed
// more, such as the owner's words, is left out. It reports how many words the text
// has, and false if the text is too long to be read to its end.
func (t *Tracer) Repeats(text string, limit floodmark.Trust) (runs []Repeat, words int, ok bool) {
	if t.Index == nil || t.Ledger == nil || len(text) > maxTracedBytes {
		return nil, 0, false
	}
	r := repeater{tracer: t, limit: limit}
	tokens.ScanText(text, func(p tokens.Piece) bool {
		r.token = tokens.AppendToken(r.token[:0], p)
		if p.Kind == tokens.Quoted || len(r.token) == 0 {
			return true
		}
		r.words++
		r.name(p)
		r.window(p)
		return r.words < maxWindows
	})
	r.endName()
	return r.runs, r.words, r.words < maxWindows
}

// A repeater reads one text.
type repeater struct {
	tracer *Tracer
	limit  floodmark.Trust
	runs   []Repeat
	words  int
	token  []byte

	win  window
	ends [shingleWords]int // where the words in the window end
	run  int               // 1 + the run the last window belongs to, 0 if to none
	last int               // the number of the last word in that run

	named Repeat // the name that is being read, of Words capitalised words
	known bool   // a word of named was first seen at the limit or below it
	spoil bool   // a word of named was first seen above the limit
}

// window looks up the last five words.
func (r *repeater) window(p tokens.Piece) {
	r.ends[r.win.words] = p.End
	if !r.win.push(r.token, p.Start) {
		return
	}
	if s, trust, ok := r.find(r.win.text); ok && trust <= r.limit {
		if first := r.words - shingleWords; r.run > 0 && first <= r.last {
			run := &r.runs[r.run-1]
			run.To = p.End
			run.Words += r.words - 1 - r.last
		} else {
			r.runs = append(r.runs, Repeat{From: r.win.start(), To: p.End, Words: shingleWords, Span: s, Trust: trust})
			r.run = len(r.runs)
		}
		r.last = r.words - 1
	}
	r.win.slide(1)
}

// name looks for names of several words, and for things that are a name by
// themselves.
func (r *repeater) name(p tokens.Piece) {
	if p.Kind == tokens.URL || p.Kind == tokens.Address || p.Kind == tokens.Account {
		r.endName()
		if s, trust, ok := r.find(r.token); ok && trust <= r.limit {
			r.runs = append(r.runs, Repeat{From: p.Start, To: p.End, Words: 1, Name: true, Span: s, Trust: trust})
		}
		return
	}
	if p.Kind != tokens.Name || r.named.Words > 0 && p.Start-r.named.To > 1 {
		r.endName()
	}
	if p.Kind != tokens.Name {
		return
	}
	if r.named.Words == 0 {
		r.named, r.known, r.spoil = Repeat{From: p.Start, Name: true}, false, false
	}
	r.named.To = p.End
	r.named.Words++
	if s, trust, ok := r.find(r.token); ok {
		if trust > r.limit {
			r.spoil = true
		} else if !r.known {
			r.known, r.named.Span, r.named.Trust = true, s, trust
		}
	}
}

// endName adds the name that was read, if it has two words or more, one of them was first seen at
// the limit or below it, and none above.
func (r *repeater) endName() {
	if r.named.Words > 1 && r.known && !r.spoil {
		r.runs = append(r.runs, r.named)
	}
	r.named = Repeat{}
}

// find returns where a token or window was first seen.
func (r *repeater) find(token []byte) (floodmark.Span, floodmark.Trust, bool) {
	spans := r.tracer.findFrom(r.tracer.keyed().bytes(token), 0, 1)
	if len(spans) == 0 {
		return floodmark.Span{}, 0, false
	}
	return spans[0], r.tracer.trust(spans[0]), true
}
