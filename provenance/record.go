package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// The first byte of what is hashed for a field, a record or an extreme. No token begins with it.
const (
	fieldMark   = 1
	recordMark  = 2
	extremeMark = 3
)

// A Record is one record of a structured content: an element of its outermost
// list, an object outside of any list, or all of it.
type Record struct {
	Node floodmark.NodeID
	At   int // where it begins
}

// fields collects the fields of a text that consists of records, and where each record begins. It
// returns false if the text does not.
func (ix *Indexer) fields(text string) bool {
	found, ok := readFields(text)
	if !ok {
		return false
	}
	last := -1
	begins := ix.recordHash()
	for _, f := range found {
		if f.record != last {
			last = f.record
			ix.post(begins, last)
		}
		ix.post(ix.fieldHash(f.name, f.value), f.at)
		if start := beginning(f.value); f.name == fieldItem && start != "" {
			ix.post(ix.beginHash(start), f.at)
		}
	}
	ix.postLinks()
	for _, e := range extremes(found) {
		ix.post(ix.extremeHash(e.field, e.most), e.record)
	}
	return true
}

func (h *hasher) recordHash() Hash {
	h.in = append(h.in[:0], recordMark)
	return h.bytes(h.in)
}

// fieldHash is the hash of a value in a field.
func (h *hasher) fieldHash(name, value string) Hash {
	h.in = append(append(append(h.in[:0], fieldMark), name...), 0)
	if plain, ok := tokens.AsNumber(value); ok { // 10, 10.0 and 10.00 are one number
		h.in = append(h.in, plain...)
	} else {
		h.in = tokens.AppendNormal(h.in, value)
	}
	return h.bytes(h.in)
}

// Records returns the records in which a field has a value, oldest first. The
// name «id» stands for every field that identifies a record, «name» for every
// one that names it, «item» for the elements of a bare list.
func (t *Tracer) Records(name, value string) []Record {
	if t.Index == nil || len(value) > maxFieldValue {
		return nil
	}
	return t.recordsAt(t.find(t.keyed().fieldHash(canonicalField(name), value)))
}

// RecordsWith returns, of each content with this word, the record in which the word comes first, in
// whatever field.
func (t *Tracer) RecordsWith(word string) []Record {
	if t.Index == nil {
		return nil
	}
	return t.recordsAt(t.find(t.keyed().text(tokens.Normalise(word))))
}

// recordsAt returns the records that contain these places, each once.
func (t *Tracer) recordsAt(spans []floodmark.Span) []Record {
	if len(spans) == 0 {
		return nil
	}
	if t.begins == nil {
		t.begins = t.find(t.keyed().recordHash())
	}
	begins := t.begins
	records := make([]Record, 0, len(spans))
	for _, s := range spans {
		at, found := slices.BinarySearchFunc(begins, s, postings.CompareSpans)
		if !found {
			at--
		}
		r := Record{Node: s.Node}
		if at >= 0 && begins[at].Node == s.Node {
			r.At = begins[at].Offset
		}
		if !slices.Contains(records, r) {
			records = append(records, r)
		}
	}
	return records
}
