package provenance

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// history plays a random history and calls check after every step.
func history(t *testing.T, seed uint64, steps int, check func(l *Ledger, dead []bool)) {
	rng := rand.New(rand.NewPCG(seed, 7))
	l := &Ledger{}
	var dead []bool
	for range steps {
		n := l.Len()
		switch pick := rng.IntN(20); {
		case pick < 12 || n == 0:
			s := source(n, label(floodmark.Trust(rng.IntN(6)), floodmark.Secrecy(rng.IntN(4))))
			s.Digest = floodmark.DigestOf(fmt.Sprint(rng.IntN(8)))
			s.Whole, s.Links = rng.IntN(12) == 0, rng.IntN(3)
			for range rng.IntN(3) {
				if n > 0 {
					s.Inputs = append(s.Inputs, floodmark.NodeID(rng.IntN(n)))
				}
			}
			if rng.IntN(4) == 0 {
				s.Call, s.Digest = floodmark.CallID(fmt.Sprint("c", n)), floodmark.Digest{}
			}
			mustAdd(t, l, s)
			dead = append(dead, false)
		case pick < 14:
			node := floodmark.NodeID(rng.IntN(n))
			f := floodmark.ContentArrived{Node: node, Digest: floodmark.DigestOf(fmt.Sprint(rng.IntN(8))), Label: label(floodmark.Trust(rng.IntN(6)), floodmark.Secrecy(rng.IntN(4))), Links: rng.IntN(3)}
			if rng.IntN(4) == 0 {
				f.Secrets = []floodmark.SecretSpan{{Rule: "r"}}
			}
			if l.Arrive(f) == nil {
				dead[node] = false
			}
		case pick < 16:
			l.Endorse(floodmark.Endorsed{Digest: floodmark.DigestOf(fmt.Sprint(rng.IntN(8))), Trust: floodmark.Trust(rng.IntN(6))})
		case pick < 17:
			l.Withdraw(floodmark.DigestOf(fmt.Sprint(rng.IntN(8))))
		case pick < 18:
			l.Clear()
			for i := range dead {
				dead[i] = true
			}
		default:
			node := rng.IntN(n)
			revive(l, floodmark.NodeID(node))
			dead[node] = false
		}
		check(l, dead)
	}
}

// revive makes a cleared source live again, as when it arrives late.
func revive(l *Ledger, n floodmark.NodeID) {
	l.revive(&l.entries[n])
	l.settle(n)
}

// slowEffective follows the definition and nothing else.
func slowEffective(l *Ledger, n floodmark.NodeID) floodmark.Label {
	s, _ := l.Source(n)
	got := s.Own()
	for _, e := range l.Endorsements() {
		if s.Call == "" && e.Digest == s.Digest && got.Trust < floodmark.Local {
			got.Trust = max(got.Trust, min(e.Trust, floodmark.Local))
		}
	}
	for in := range n {
		if s.Whole || slices.Contains(s.Inputs, in) {
			got = got.Join(slowEffective(l, in))
		}
	}
	return got
}

func TestLawsOverRandomHistories(t *testing.T) {
	for seed := range uint64(60) {
		history(t, seed, 14, func(l *Ledger, dead []bool) {
			mark, levels := floodmark.Clean(), Levels(0)
			for n := range floodmark.NodeID(l.Len()) {
				want := slowEffective(l, n)
				if got := l.Effective(n); got != want {
					t.Fatalf("seed %d: effective label of %d is %v, want %v", seed, n, got, want)
				}
				if l.Live(n) == dead[n] {
					t.Fatalf("seed %d: node %d live is %v", seed, n, l.Live(n))
				}
				if !dead[n] {
					mark, levels = mark.Join(want), levels|LevelsOf(want.Trust)
				}
			}
			if l.Mark() != mark || l.Levels() != levels {
				t.Fatalf("seed %d: mark %v levels %b, want %v %b", seed, l.Mark(), l.Levels(), mark, levels)
			}
		})
	}
}

// slowSet follows the definition and nothing else: what is live before a node, what that was
// made from, and each source once, in order.
func slowSet(l *Ledger, before floodmark.NodeID) (out []floodmark.Source) {
	needed := map[floodmark.NodeID]bool{}
	for n := floodmark.NodeID(l.Len() - 1); n >= 0; n-- {
		if !needed[n] && (!l.Live(n) || n >= before) {
			continue
		}
		s, _ := l.Source(n)
		for in := range n {
			needed[in] = needed[in] || s.Whole || slices.Contains(s.Inputs, in)
		}
		needed[n] = true
	}
	rest, joined := floodmark.Clean(), false
	for n := range floodmark.NodeID(l.Len()) {
		s, _ := l.Source(n)
		s.Node, s.Inputs, s.Whole, s.Call = 0, nil, false, ""
		switch {
		case !needed[n] || slices.ContainsFunc(out, func(o floodmark.Source) bool {
			return o.Digest == s.Digest && o.Label == s.Label && o.Origin == s.Origin
		}):
		case s.Label.Trust >= floodmark.Local || len(out) == MaxSet:
			rest, joined = rest.Join(s.Label), true
		default:
			out = append(out, s)
		}
	}
	if joined && rest != floodmark.Clean() {
		out = append(out, floodmark.Source{Kind: floodmark.NodeHistory, Label: rest, Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: restName}})
	}
	for i := range out {
		out[i].Node = floodmark.NodeID(i)
	}
	return out
}

// A set is kept up to date while sources come, arrive, die and come back. It is the same set as
// one that is made of all sources anew.
func TestSetFollowsItsDefinition(t *testing.T) {
	for seed := range uint64(60) {
		history(t, seed, 30, func(l *Ledger, _ []bool) {
			for before := range floodmark.NodeID(l.Len() + 2) {
				if got, want := l.Set(before), slowSet(l, before); !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d: the set before %d is\n%+v, want\n%+v", seed, before, got, want)
				}
			}
		})
	}
}

// The same with more sources than a set lists one by one.
func TestFullSetFollowsItsDefinition(t *testing.T) {
	for seed := range uint64(4) {
		rng, l := rand.New(rand.NewPCG(seed, 8)), &Ledger{}
		for n := range 3 * MaxSet {
			s := source(n, label(floodmark.Trust(rng.IntN(4)), floodmark.Secrecy(rng.IntN(4))))
			s.Digest = floodmark.DigestOf(fmt.Sprint(rng.IntN(2 * MaxSet)))
			if s.Call = ""; rng.IntN(3) == 0 {
				s.Call = floodmark.CallID(fmt.Sprint("c", n))
			}
			mustAdd(t, l, s)
			if at := floodmark.NodeID(rng.IntN(n + 1)); rng.IntN(2) == 0 {
				_ = l.Arrive(floodmark.ContentArrived{Node: at, Label: label(floodmark.Trust(rng.IntN(6)), 3)}) // most wait for nothing
			}
			if before := floodmark.NodeID(n + 1); !reflect.DeepEqual(l.Set(before), slowSet(l, before)) {
				t.Fatalf("seed %d: the set of %d sources is not what it should be", seed, n+1)
			}
			if n%32 == 0 && !reflect.DeepEqual(again(t, l).Set(9999), l.Set(9999)) {
				t.Fatalf("seed %d: read again, the set of %d sources is another", seed, n+1)
			}
		}
	}
}

func TestSnapshotsAreTheSame(t *testing.T) {
	for seed := range uint64(25) {
		steps := 40
		if seed%5 == 0 {
			steps = 240 // some sources are packed, and some of those arrive
		}
		history(t, seed, steps, func(l *Ledger, _ []bool) {
			if back := again(t, l); !reflect.DeepEqual(back, l) {
				t.Fatalf("seed %d: snapshot differs:\n%+v\n%+v", seed, back, l)
			}
		})
	}
}

func TestExportKeepsTheMark(t *testing.T) {
	for seed := range uint64(25) {
		history(t, seed, 40, func(l *Ledger, _ []bool) {
			var child Ledger
			if err := child.AddAll(l.Export()); err != nil {
				t.Fatal(err)
			}
			for _, e := range l.Endorsements() {
				child.Endorse(e)
			}
			if child.Mark() != l.Mark() {
				t.Fatalf("seed %d: the child's mark is %v, the parent's %v", seed, child.Mark(), l.Mark())
			}
		})
	}
}

func TestBlameAgreesWithTheMark(t *testing.T) {
	for seed := range uint64(25) {
		history(t, seed, 40, func(l *Ledger, _ []bool) {
			for limit := range floodmark.System {
				blamed := l.Blame(limit)
				if (len(blamed) > 0) != (l.Mark().Trust <= limit) {
					t.Fatalf("seed %d: mark %v, but %v are blamed for %v", seed, l.Mark(), blamed, limit)
				}
				if len(blamed) > 0 {
					s, _ := l.Source(blamed[0])
					if g := l.packed.Gist(s.Node); l.own(&g).Trust != l.Mark().Trust {
						t.Fatalf("seed %d: the first one blamed is %v, the mark %v", seed, s.Label, l.Mark())
					}
				}
			}
		})
	}
}

// Inputs are kept in order, each once, whatever becomes of the caller's slice.
func TestInputsAreTheLedgersOwn(t *testing.T) {
	var l Ledger
	inputs := []floodmark.NodeID{1, 0, 1}
	mustAdd(t, &l, source(0, floodmark.Clean()), source(1, floodmark.Clean()), source(2, floodmark.Clean(), inputs...))
	inputs[1] = 1
	if s, _ := l.Source(2); !slices.Equal(s.Inputs, []floodmark.NodeID{0, 1}) {
		t.Errorf("inputs %v", s.Inputs)
	}
}

// If sources are taken back after an error, older sources with the same content stay.
func TestAddAllTakesBackOnlyItsOwn(t *testing.T) {
	var l Ledger
	old, again, fresh := source(0, floodmark.Clean()), source(1, floodmark.Clean()), source(2, floodmark.Clean())
	again.Digest = old.Digest
	mustAdd(t, &l, old)
	if err := l.AddAll([]floodmark.Source{again, fresh, source(7, floodmark.Clean())}); err == nil || l.Len() != 1 {
		t.Errorf("%d sources, %v", l.Len(), err)
	}
	if n, ok := l.Find(old.Digest); !ok || n != 0 {
		t.Errorf("the older content is at %d, %v", n, ok)
	}
	if _, ok := l.Find(fresh.Digest); ok {
		t.Error("what was taken back is still found")
	}
}

func TestFindReturnsTheOldest(t *testing.T) {
	for seed := range uint64(40) {
		history(t, seed, 40, func(l *Ledger, _ []bool) {
			for i := range 8 {
				d := floodmark.DigestOf(fmt.Sprint(i))
				want := slices.IndexFunc(slices.Collect(l.Sources()), func(s floodmark.Source) bool { return s.Digest == d })
				if got, ok := l.Find(d); ok != (want >= 0) || (ok && int(got) != want) {
					t.Fatalf("seed %d: found %d, %v, want %d", seed, got, ok, want)
				}
			}
		})
	}
}
