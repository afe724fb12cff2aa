// Package postings holds which token stands where: of one content, as it is written down, and
// of all contents of a session, for look-ups. What a token is, and its hash, come from outside.
package postings

import (
	"cmp"

	"github.com/floodmark/floodmark"
)

// A Hash stands for one normalised token under one key: the first eight bytes
// of its HMAC-SHA256.
type Hash uint64

// A Posting says that a token stands at an offset of a content, in bytes.
type Posting struct {
	Hash   Hash
	Offset uint32
}

// Postings are all the tokens of one content: each once, where it stands
// first, ordered by hash; and if it holds records, each field of each.
type Postings []Posting

// MaxPostings bounds what is kept of one content. Ordinary text of 40 MB has
// about two million.
const MaxPostings = 1 << 22

// Compare orders postings by hash, then by place.
func Compare(a, b Posting) int {
	switch {
	case a.Hash != b.Hash:
		return cmp.Compare(a.Hash, b.Hash)
	default:
		return cmp.Compare(a.Offset, b.Offset)
	}
}

// CompareSpans orders places by node, then by offset.
func CompareSpans(a, b floodmark.Span) int {
	if a.Node != b.Node {
		return cmp.Compare(a.Node, b.Node)
	}
	return cmp.Compare(a.Offset, b.Offset)
}
