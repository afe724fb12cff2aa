package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/tokens"
)

// linkMark is what the hash of a link in a record begins with.
const linkMark = 5

// maxLinks bounds the links of one content that are noted. Of one with more it
// is not known how many a record has, so none is.
const maxLinks = 256

func (h *hasher) linkHash() Hash {
	h.in = append(h.in[:0], linkMark)
	return h.bytes(h.in)
}

// noteLink keeps where a link stands until it is known whether there are
// records.
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

// forgetLinks takes the links out again if there is not room for everything:
// some of them would be worse than none.
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
