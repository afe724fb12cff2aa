package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// linkMark is the first byte of what is hashed for a link in a record.
const linkMark = 5

// maxLinks bounds the links of one content that are indexed. If a content has more, none is
// indexed, because it would not be known how many links a record has.
const maxLinks = 256

func (h *hasher) linkHash() Hash {
	h.in = append(h.in[:0], linkMark)
	return h.bytes(h.in)
}

// noteLink keeps the offset of a link until it is known whether the content has records.
func (ix *Indexer) noteLink(p tokens.Piece) {
	if p.Kind == tokens.URL && len(ix.links) <= maxLinks {
		ix.links = append(ix.links, p.Start)
	}
}

func (ix *Indexer) postLinks() {
	if len(ix.links) > maxLinks {
		return
	}
	for _, at := range ix.links {
		ix.post(ix.linkHash(), at)
	}
}

// forgetLinks removes all links if there is not room for all postings, because it would not be known
// how many links a record has if some were missing.
func (ix *Indexer) forgetLinks(room int) {
	if len(ix.out) <= room || len(ix.links) == 0 {
		return
	}
	link := ix.linkHash()
	ix.out = slices.DeleteFunc(ix.out, func(p Posting) bool { return p.Hash == link })
}

// A Link is a URL inside a record.
type Link struct {
	Record Record
	At     floodmark.Span
}

// Links returns the links in the records that were seen.
func (t *Tracer) Links() []Link {
	if t.Index == nil {
		return nil
	}
	var links []Link
	for _, s := range t.find(t.keyed().linkHash()) {
		links = append(links, Link{Record: t.recordsAt([]floodmark.Span{s})[0], At: s})
	}
	return links
}
