package believed

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// A one holds what was added about a source.
type one struct {
	node, since    floodmark.NodeID
	own, effective floodmark.Trust
	secrecy        floodmark.Secrecy
}

// A book answers as a list of all sources that were added and not cut would. After a cut it equals
// a book to which the removed sources were never added.
func TestLawABookAnswersAsItsListWould(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for round := range 300 {
		var book Book
		var list []one
		next := floodmark.NodeID(0)
		for range 40 {
			if rng.IntN(8) == 0 {
				next = floodmark.NodeID(rng.IntN(int(next) + 1))
				book.Cut(next)
				list = slices.DeleteFunc(list, func(o one) bool { return o.node >= next })
			}
			o := one{node: next, effective: floodmark.Trust(rng.IntN(6)), secrecy: floodmark.Secrecy(rng.IntN(4))}
			if o.own = max(o.effective, floodmark.Trust(rng.IntN(6))); rng.IntN(4) == 0 {
				o.since = next + 1 + floodmark.NodeID(rng.IntN(9))
			}
			next += 1 + floodmark.NodeID(rng.IntN(3)) // the sources between are dead
			book.Add(o.node, o.since, o.own, floodmark.Label{Trust: o.effective, Secrecy: o.secrecy})
			list = append(list, o)
			compare(t, rng, &book, list)
		}
		var anew Book
		for _, o := range list {
			anew.Add(o.node, o.since, o.own, floodmark.Label{Trust: o.effective, Secrecy: o.secrecy})
		}
		if !reflect.DeepEqual(anew, book) {
			t.Fatalf("round %d: %+v, made anew %+v", round, book, anew)
		}
	}
}

func compare(t *testing.T, rng *rand.Rand, book *Book, list []one) {
	t.Helper()
	limit, from := floodmark.Trust(rng.IntN(6)), floodmark.NodeID(rng.IntN(60))
	since := func(n floodmark.NodeID) floodmark.NodeID {
		return list[slices.IndexFunc(list, func(o one) bool { return o.node == n })].since
	}
	but := func(n floodmark.NodeID) bool { return n%3 != 0 }
	want := slices.ContainsFunc(list, func(o one) bool {
		return o.effective < limit && (o.node >= from || o.since > from) && !but(o.node)
	})
	if got := book.Newer(from, limit, since, but); got != want {
		t.Fatalf("newer than %d below %v: %v\n%+v", from, limit, got, list)
	}
	for s := range floodmark.Public + 1 {
		at := slices.IndexFunc(list, func(o one) bool { return o.secrecy == s })
		if got := book.First(s); (at >= 0) != (len(got) == 1) || at >= 0 && got[0] != list[at].node {
			t.Fatalf("%v: the first of %+v is %v", s, list, got)
		}
	}
	var worst Worst
	for _, o := range slices.Backward(list) {
		if o.own <= limit {
			worst.Add(o.node, o.own)
		}
	}
	roots := slices.DeleteFunc(slices.Clone(list), func(o one) bool { return o.own > limit })
	slices.SortStableFunc(roots, func(a, b one) int { return cmp.Compare(a.own, b.own) })
	var nodes []floodmark.NodeID
	for _, o := range roots[:min(len(roots), Most)] {
		nodes = append(nodes, o.node)
	}
	if got := book.Roots(limit); !slices.Equal(got, nodes) || !slices.Equal(worst.Nodes(), nodes) {
		t.Fatalf("at most %v: %v and %v, want %v", limit, got, worst.Nodes(), nodes)
	}
}
