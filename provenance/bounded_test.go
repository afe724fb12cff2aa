package provenance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
)

// slowTogether follows the definition: all sources that hold all tokens, and the lowest trust at
// which one was first seen.
func slowTogether(t *Tracer, tokens []Hash) (all []floodmark.Span, trust floodmark.Trust) {
	trust = floodmark.System
	for i, h := range tokens {
		spans := onePerNode(t.find(h))
		if len(spans) == 0 {
			return nil, floodmark.Untrusted
		}
		trust = min(trust, t.trust(spans[0]))
		if i == 0 {
			all = spans
		}
		all = slices.DeleteFunc(all, func(s floodmark.Span) bool {
			return !slices.ContainsFunc(spans, func(o floodmark.Span) bool { return o.Node == s.Node })
		})
	}
	return all[:min(len(all), floodmark.MaxSpans)], trust
}

// Bounded lookups find the first of the places that looking at all places would find, however often
// and under however many keys tokens were seen.
func TestLawLooksUpAsIfAllWereRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	keys, found := []Key{testKey(), {5}}, 0
	for range 40 {
		words := 2 + rng.IntN(12)
		l, ix := &Ledger{}, postings.NewMemory()
		for n := range 10 + rng.IntN(4*placesAtOnce) {
			mustAdd(t, l, source(n, label(floodmark.Trust(rng.IntN(6)), floodmark.Public)))
			var text []string
			for range rng.IntN(words) {
				text = append(text, fmt.Sprintf("zq%d", rng.IntN(words)))
			}
			ix.Add(floodmark.NodeID(n), keys[rng.IntN(10)/9].Postings(strings.Join(text, " ")))
		}
		tr := &Tracer{Key: keys[0], Also: keys[1:], Index: ix, Ledger: l}
		for range 30 {
			var tokens []Hash
			for range rng.IntN(5) {
				tokens = append(tokens, tr.keyed().text(fmt.Sprintf("zq%d", rng.IntN(words+1))))
			}
			got, trust := tr.together(tokens)
			want, wantTrust := slowTogether(tr, tokens)
			if !slices.Equal(got, want) || trust != wantTrust {
				t.Fatalf("together: %v at %v, want %v at %v", got, trust, want, wantTrust)
			}
			for _, h := range tokens {
				all := onePerNode(tr.find(h))
				if got := tr.first(h); !slices.Equal(got, all[:min(len(all), floodmark.MaxSpans)]) {
					t.Fatalf("first: %v of %v", got, all)
				}
			}
			found += len(want)
		}
	}
	if found < 1000 {
		t.Errorf("%d places: the texts are too tame", found)
	}
}

// generous is an index that counts the places it gives.
type generous struct {
	Index
	places *int
}

func (g generous) Find(h Hash, from floodmark.NodeID, most int) []floodmark.Span {
	spans := g.Index.Find(h, from, most)
	*g.places += len(spans)
	return spans
}

// A value whose tokens are in everything that was seen is looked up as fast in a long session as in
// a short one.
func TestLookingUpDoesNotGrow(t *testing.T) {
	for _, value := range []string{"zulu", "zulu yankee", "yankee, then zulu xray zulu yankee", "victor zulu"} {
		var read []int
		for _, n := range []int{1000, 10_000} {
			places := 0
			l, ix := &Ledger{}, postings.NewMemory()
			same := testKey().Postings("zulu yankee xray then")
			for i := range n {
				mustAdd(t, l, source(i, label(floodmark.External, floodmark.Public)))
				ix.Add(floodmark.NodeID(i), same)
			}
			ix.Add(0, testKey().Postings("victor"))
			tr := &Tracer{Key: testKey(), Index: generous{ix, &places}, Ledger: l}
			if got := tr.Trace(leaf(value), floodmark.Content, "body"); got.Whence != floodmark.Seen {
				t.Fatalf("%q: %+v", value, got)
			}
			_, _, _ = tr.Repeats(value, floodmark.External)
			read = append(read, places)
		}
		if read[0] != read[1] || read[0] > 2000 {
			t.Errorf("%q: %d places of 1,000 sources, %d of 10,000", value, read[0], read[1])
		}
	}
}
