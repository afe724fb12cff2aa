// Package postings is an index of the places of tokens: for one content in the form in which it is
// stored, and for all contents of a session for look-ups. The caller decides what a token is and
// computes its hash.
package postings

import (
	"cmp"

	"github.com/floodmark/floodmark"
)

// A Hash identifies one normalised token under one key. It is the first eight bytes of the token's
// HMAC-SHA256.
type Hash uint64

// A Posting says that a token occurs at an offset in a content, in bytes.
type Posting struct {
	Hash   Hash
	Offset uint32
}

// Postings are the tokens of one content, ordered by hash. Each token is listed once, with its
// first offset. If the content consists of records, each field of each record is listed too.
type Postings []Posting

// MaxPostings bounds the postings of one content. Ordinary text of 40 MB has about two million.
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
