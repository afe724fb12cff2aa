package provenance

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// labelMark is the first byte of what is hashed for a labelled value.
const labelMark = 4

// The limits on labels.
const (
	maxLabelText  = 64 << 10 // a page on which people describe themselves is short
	maxLabels     = 1 << 10
	maxLabelWords = 4
)

// labels collects the values of a plain text that are right behind a word and a
// colon: «Email: ada@home.example». Labels prove less than fields, because the author
// of the text wrote the label, too: nothing follows from a label unless the owner
// pointed at that text.
func (ix *Indexer) labels(text string) {
	if len(text) > maxLabelText || !strings.Contains(text, ":") {
		return
	}
	var run [maxLabelWords]tokens.Piece // the words before, newest first
	words, posted := 0, 0
	tokens.ScanText(text, func(p tokens.Piece) bool {
		between := " "
		if words > 0 && run[0].End <= p.Start {
			between = strings.Trim(text[run[0].End:p.Start], " \t\"'")
		}
		if words > 0 && between == ":" && !aboutMoney(run[:words]) {
			ix.post(ix.labelHash(run[0].Folded, text[p.Start:p.End]), p.Start)
			posted++
		}
		if between != "" || p.Kind != tokens.Word && p.Kind != tokens.Name {
			words = 0
		}
		if p.Kind != tokens.Word && p.Kind != tokens.Name {
			return posted < maxLabels
		}
		copy(run[1:], run[:])
		run[0] = p
		words = min(words+1, maxLabelWords)
		return posted < maxLabels
	})
}

// aboutMoney reports whether a label is about money. A value with such a label is not collected, so
// that no label vouches for it.
func aboutMoney(run []tokens.Piece) bool {
	return slices.ContainsFunc(run, func(p tokens.Piece) bool { return tokens.InGroup("purse", strings.ToLower(p.Folded)) })
}

func (h *hasher) labelHash(label, value string) Hash {
	h.in = tokens.AppendNormal(append(h.in[:0], labelMark), label)
	h.in = tokens.AppendNormal(append(h.in, 0), value)
	return h.bytes(h.in)
}

// Labelled returns the places at which a value is right behind a label, or in a
// field of that name.
func (t *Tracer) Labelled(label, value string) []floodmark.Span {
	if t.Index == nil || value == "" || len(value) > maxFieldValue {
		return nil
	}
	h := t.keyed()
	spans := append([]floodmark.Span(nil), t.find(h.labelHash(label, value))...)
	return append(spans, t.find(h.fieldHash(canonicalField(label), value))...)
}
