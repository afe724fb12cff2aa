package provenance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// The values of the paper's appendix, and of its reference code.
func TestSipHash(t *testing.T) {
	k := sipKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	in := make([]byte, 64)
	for i := range in {
		in[i] = byte(i)
	}
	for n, want := range map[int]uint64{
		0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd, 7: 0xab0200f58b01d137, 8: 0x93f5f5799a932462, 15: 0xa129ca6149be45e5,
	} {
		if got := k.sum(in[:n]); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

// One indexer gives for each text what a new one gives, whatever it read before,
// under whatever key.
func TestAnIndexerForgets(t *testing.T) {
	var ix Indexer
	keys := []Key{testKey(), {9}}
	for i, text := range []string{
		"pay the invoice 4711", "", "pay the invoice 4711 to https://shop.example/x, it is due", "The invoice",
		`[{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]`, sampleText(200_000), "pay the invoice 4711", sampleText(300),
	} {
		for _, k := range keys {
			if got, want := ix.Postings(k, text), k.Postings(text); !slices.Equal(got, want) {
				t.Errorf("text %d: %d postings, want %d", i, len(got), len(want))
			}
		}
	}
}

// The postings of a text stay as they are when the indexer reads the next text.
func TestPostingsAreTheCallers(t *testing.T) {
	var ix Indexer
	texts := []string{"alpha beta gamma delta epsilon", `[{"id": 17, "name": "zeta"}]`}
	for _, text := range texts {
		kept := ix.Postings(testKey(), text)
		before := slices.Clone(kept)
		for range 3 {
			ix.Postings(testKey(), sampleText(500))
		}
		if !slices.Equal(kept, before) {
			t.Errorf("the postings of %q were written over", text)
		}
	}
}

// A text that was seen as one kind of token is indexed as another kind with its
// parts; a usual word is left out, and kept where it is quoted.
func TestTokensAreSeenByKind(t *testing.T) {
	for text, tokens := range map[string][]string{
		`"docs/notes.txt" docs/notes.txt`: {"docs/notes.txt", "notes.txt"},
		`the "the" The`:                   {"the"},
		"#17x 17x #17x":                   {"#17x", "17x"},
		"1.50 and 1.5":                    {"1.50", "1.5"},
		"007 and 7":                       {"007", "7"},
		"_x1":                             {"_x1", "x1"},
		"x1_":                             {"x1_", "x1"},
	} {
		ps := testKey().Postings(text)
		for _, token := range tokens {
			if !slices.ContainsFunc(ps, func(p Posting) bool { return p.Hash == testKey().Hash(token) }) {
				t.Errorf("%s: %q is not in the index", text, token)
			}
		}
		if len(ps) != len(tokens) {
			t.Errorf("%s: %d postings, want %d", text, len(ps), len(tokens))
		}
	}
}

// Sorting by buckets puts postings in order, even if their hashes are not spread evenly.
func TestPostingsAreSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, fewPostings, fewPostings + 1, 63, 64, 65, 1000, 5000} {
		for name, draw := range map[string]func() Hash{
			"spread":  func() Hash { return Hash(r.Uint64()) },
			"the low": func() Hash { return Hash(r.Uint64N(100)) },
			"one":     func() Hash { return 1 << 63 },
		} {
			var ix Indexer
			for range n {
				ix.post(draw(), r.IntN(10_000))
			}
			want := slices.Clone(ix.out)
			slices.SortFunc(want, postings.Compare)
			if ix.sort(); !slices.Equal(ix.out, want) {
				t.Errorf("%d, %s: not in order", n, name)
			}
		}
	}
}

// The memory of tokens grows with them up to its limit; beyond it a token is new
// each time.
func TestSeenTokensAreBounded(t *testing.T) {
	var s seenTokens
	s.begin(testKey(), 0)
	name := func(i int) []byte { return fmt.Appendf(nil, "token-%d", i) }
	for i := range knownTokens {
		if again, _ := s.again(tokens.ID, name(i)); again {
			t.Fatalf("token %d was never there", i)
		}
	}
	for _, i := range []int{0, 1, 77, knownTokens - 1} {
		if again, _ := s.again(tokens.ID, name(i)); !again {
			t.Errorf("token %d was there", i)
		}
	}
	for range 2 {
		if again, _ := s.again(tokens.ID, name(knownTokens)); again {
			t.Error("one beyond the limit is remembered")
		}
	}
	if s.used != knownTokens || len(s.table) != 2*knownTokens {
		t.Errorf("%d tokens in %d places", s.used, len(s.table))
	}
	if again, _ := s.again(tokens.Path, name(0)); again {
		t.Error("a token of another kind was there")
	}
}

// Adding many contents at once finds what adding each by itself finds.
func TestAddAllIsAddingEach(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var list []postings.Placed
	for n := range 40 {
		list = append(list, postings.Placed{Node: floodmark.NodeID(n), Postings: testKey().Postings(sampleText(1 + r.IntN(6000)))})
	}
	list = append(list, postings.Placed{Node: 40, Postings: list[7].Postings}, postings.Placed{Node: 41})
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	one, all := postings.NewMemory(), postings.NewMemory()
	all.AddAll(list[:5])
	all.AddAll(list[5:])
	all.AddAll(nil)
	for _, c := range list {
		one.Add(c.Node, c.Postings)
	}
	for _, c := range list {
		for _, p := range c.Postings {
			if got, want := all.Find(p.Hash, 0, 9999), one.Find(p.Hash, 0, 9999); len(want) == 0 || !slices.Equal(got, want) {
				t.Fatalf("%x: %v, want %v", p.Hash, got, want)
			}
		}
	}
	if len(all.Find(12345, 0, 9)) != 0 {
		t.Error("something was found that is not there")
	}
}

// Every usual word is looked up in the list of usual words, and few other words are.
func TestUsualWordsAreRecognised(t *testing.T) {
	var s seenTokens
	s.begin(testKey(), 0)
	for word := range strings.SplitSeq(strings.TrimSpace(tokens.UsualWords())+"\nq", "\n") {
		if _, may := s.again(tokens.Word, []byte(word)); !may || !usual([]byte(word)) {
			t.Errorf("%q is a usual word", word)
		}
	}
	n := 0
	for i := range 1000 {
		if _, may := s.again(tokens.Word, fmt.Appendf(nil, "unusual%d", i)); may {
			n++
		}
	}
	if n > 100 {
		t.Errorf("%d words of 1000 are looked up for nothing", n)
	}
}
