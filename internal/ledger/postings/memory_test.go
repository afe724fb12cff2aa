package postings

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

func TestMemoryMergesRuns(t *testing.T) {
	ix := NewMemory()
	ix.Add(0, nil)
	if len(ix.runs) != 0 {
		t.Error("nothing became a run")
	}
	sizes := func() (sizes []int) {
		for _, run := range ix.runs {
			sizes = append(sizes, len(run))
		}
		return sizes
	}
	for n, want := range [][]int{{4}, {8}, {8, 4}, {16}} {
		ix.Add(floodmark.NodeID(n), Postings{{Hash: 9}, {Hash: 3}, {Hash: 5}, {Hash: 7}}) // not in order
		if got := sizes(); !slices.Equal(got, want) {
			t.Errorf("runs of %v, want %v", got, want)
		}
	}
	ix.Add(9, Postings{{Hash: 5, Offset: 1}})
	want := []floodmark.Span{{Node: 0}, {Node: 1}, {Node: 2}, {Node: 3}, {Node: 9, Offset: 1}}
	if got := ix.Find(5, 0, 99); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMemoryAgreesWithASlowOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ix, slow := NewMemory(), map[Hash][]floodmark.Span{}
	for n := range floodmark.NodeID(200) {
		var p Postings
		for h := range Hash(40) {
			if rng.IntN(3) == 0 {
				p = append(p, Posting{Hash: h, Offset: uint32(rng.IntN(1000))})
				slow[h] = append(slow[h], floodmark.Span{Node: n, Offset: int(p[len(p)-1].Offset)})
			}
		}
		ix.Add(n, p[:rng.IntN(len(p)+1)][:0:0])
		ix.Add(n, p)
	}
	for h := range Hash(41) {
		if got := ix.Find(h, 0, math.MaxInt); !reflect.DeepEqual(got, slow[h]) {
			t.Fatalf("hash %d: %v, want %v", h, got, slow[h])
		}
		for range 20 {
			from, most := floodmark.NodeID(rng.IntN(210)), rng.IntN(70)
			want := slices.DeleteFunc(slices.Clone(slow[h]), func(s floodmark.Span) bool { return s.Node < from })
			if got := ix.Find(h, from, most); !slices.Equal(got, want[:min(len(want), most)]) {
				t.Fatalf("hash %d, %d from node %d on: %v, want %v", h, most, from, got, want)
			}
		}
	}
	if len(ix.runs) > 12 {
		t.Errorf("%d runs", len(ix.runs))
	}
}

// A hash is found in every run: with uniform hashes, with all hashes at one end, or with the same
// hash many times.
func TestSearchFindsTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for size := range 300 {
		for _, draw := range []func() Hash{
			func() Hash { return Hash(rng.Uint64()) },
			func() Hash { return Hash(rng.Uint64N(50)) },
			func() Hash { return ^Hash(rng.Uint64N(3)) },
		} {
			run := make([]place, size)
			for i := range run {
				run[i].hash = draw()
			}
			slices.SortFunc(run, comparePlaces)
			for _, h := range []Hash{0, 1, draw(), draw(), ^Hash(0)} {
				want := 0
				for want < size && run[want].hash < h {
					want++
				}
				if got := search(run, h); got != want {
					t.Fatalf("%d of %d, want %d", got, size, want)
				}
			}
		}
	}
}
