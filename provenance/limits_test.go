package provenance

import (
	"testing"

	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// The limits that other packages and readers count on.
func TestLimits(t *testing.T) {
	for name, c := range map[string][2]int{
		"postings of a content":  {postings.MaxPostings, 4194304},
		"sources of a session":   {MaxSources, 262144},
		"sources that are named": {MaxBlame, 5},
		"bytes of a value":       {maxTracedBytes, 262144},
		"tokens of a value":      {maxTracedTokens, 64},
		"windows of a value":     {maxWindows, 4096},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}

func TestPostingsAreLimited(t *testing.T) {
	ix := Indexer{hasher: newHasher(testKey()), stride: shingleStride, out: make(Postings, postings.MaxPostings-1)}
	ix.seen.begin(testKey(), 0)
	word := tokens.Piece{Kind: tokens.ID, Folded: "a1"}
	if !ix.add(word) || len(ix.out) != postings.MaxPostings {
		t.Errorf("%d postings before the limit", len(ix.out))
	}
	if ix.add(word) || len(ix.out) != postings.MaxPostings {
		t.Errorf("%d postings beyond the limit", len(ix.out))
	}
}
