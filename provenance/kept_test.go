package provenance

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// walkedBelow, walkedWithin and walkedBlame go through all sources and do just what the
// definitions say.
func walkedBelow(l *Ledger, from floodmark.NodeID, limit floodmark.Trust, but func(floodmark.NodeID) bool) bool {
	for n := range floodmark.NodeID(l.Len()) {
		if l.Live(n) && l.Effective(n).Trust < limit && (n >= from || floodmark.NodeID(l.entries[n].since) > from) && (but == nil || !but(n)) {
			return true
		}
	}
	return false
}

func walkedWithin(l *Ledger, mark floodmark.Label) bool {
	for n := range floodmark.NodeID(l.Len()) {
		if l.Live(n) && mark.Join(l.Effective(n)) != mark && !slices.Contains(l.pending, n) {
			return false
		}
	}
	return true
}

func walkedBlame(l *Ledger, limit floodmark.Trust) (roots []floodmark.NodeID) {
	own := func(n floodmark.NodeID) floodmark.Trust { s := l.packed.Gist(n); return l.own(&s).Trust }
	asked := make([]bool, l.Len())
	for n := floodmark.NodeID(l.Len() - 1); n >= 0; n-- {
		if asked[n] = asked[n] || l.Live(n); !asked[n] || l.Effective(n).Trust > limit {
			continue
		}
		if own(n) <= limit {
			roots = append(roots, n)
		}
		for in := range n {
			if s, _ := l.Source(n); own(n) != l.Effective(n).Trust && (s.Whole || slices.Contains(s.Inputs, in)) {
				asked[in] = true
			}
		}
	}
	slices.SortFunc(roots, func(a, b floodmark.NodeID) int { return cmp.Or(cmp.Compare(own(a), own(b)), cmp.Compare(a, b)) })
	return roots[:min(len(roots), MaxBlame)]
}

// walkedSources compares what the ledger lists of its sources with what going through all of them
// finds.
func walkedSources(t *testing.T, seed uint64, l *Ledger) {
	t.Helper()
	all, links, secret := slices.Collect(l.Sources()), 0, []floodmark.NodeID(nil)
	first := map[floodmark.Secrecy][]floodmark.NodeID{}
	for i := range all {
		s := &all[i]
		if links += s.Links; s.Own().Secrecy == floodmark.Secret {
			secret = append(secret, s.Node)
		}
		if e := l.Effective(s.Node).Secrecy; l.Live(s.Node) && first[e] == nil {
			first[e] = []floodmark.NodeID{s.Node}
		}
		for _, other := range []floodmark.Digest{s.Digest, {}, floodmark.DigestOf("nobody has it")} {
			asked := *s
			asked.Digest = other
			want := slices.IndexFunc(all, func(o floodmark.Source) bool { return SameSource(&o, &asked) })
			if got, ok := l.Same(&asked); ok != (want >= 0) || ok && int(got) != want {
				t.Fatalf("seed %d: the same as %d is %d, %v, want %d", seed, i, got, ok, want)
			}
		}
	}
	if l.Links() != links || !slices.Equal(l.Secret(), secret) {
		t.Fatalf("seed %d: %d links, want %d; %v are secret, want %v", seed, l.Links(), links, l.Secret(), secret)
	}
	for s := range floodmark.Public + 1 {
		if got := l.Guarded(s); !slices.Equal(got, first[s]) {
			t.Fatalf("seed %d: the first that is %v is %v, want %v", seed, s, got, first[s])
		}
	}
}

func holdToWalk(t *testing.T, seed uint64, l *Ledger, rng *rand.Rand) {
	t.Helper()
	walkedSources(t, seed, l)
	for limit := range floodmark.System + 1 {
		if got, want := l.Blame(limit), walkedBlame(l, limit); !slices.Equal(got, want) || len(got) == 0 && got != nil {
			t.Fatalf("seed %d: %d sources: blame of %v is %v, want %v", seed, l.Len(), limit, got, want)
		}
		for secrecy := range floodmark.Public + 1 {
			mark := label(limit, secrecy)
			if got := l.Within(mark); got != walkedWithin(l, mark) {
				t.Fatalf("seed %d: %d sources: within %v is %v", seed, l.Len(), mark, got)
			}
		}
		from, odd := floodmark.NodeID(rng.IntN(l.Len()+2)), rng.IntN(3)
		for _, but := range []func(floodmark.NodeID) bool{nil, func(n floodmark.NodeID) bool { return int(n)%3 != odd }, func(floodmark.NodeID) bool { return true }} {
			if got := l.NewBelow(from, limit, but); got != walkedBelow(l, from, limit, but) {
				t.Fatalf("seed %d: %d sources: new below %v since %d is %v", seed, l.Len(), limit, from, got)
			}
		}
	}
}

// What is kept up to date while sources come, arrive, die and come back says what going through
// all of them would.
func TestLawKeptAnswersAreWalkedOnes(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 9))
		history(t, seed, 60, func(l *Ledger, _ []bool) {
			holdToWalk(t, seed, l, rng)
			if rng.IntN(20) == 0 {
				holdToWalk(t, seed, again(t, l), rng)
			}
			if from := l.Len(); rng.IntN(10) == 0 { // none of them is taken
				worst := source(from, floodmark.Label{})
				if worst.Inputs = nil; l.AddAll([]floodmark.Source{worst, source(from+7, floodmark.Clean())}) == nil {
					t.Fatal("a source far off was taken")
				}
				holdToWalk(t, seed, l, rng)
			}
		})
	}
}

// BenchmarkKept asks a session of 100,000 sources, every tenth of which is a page, after
// all of it was seen, of what is new, and of what is to blame.
func BenchmarkKept(b *testing.B) {
	l, n := &Ledger{}, 100_000
	for i := range n {
		s := source(i, label(floodmark.Local, floodmark.Private))
		if s.Digest = floodmark.DigestOf(fmt.Sprint(i)); i%10 == 0 {
			s.Label = label(floodmark.Untrusted, floodmark.Public)
		}
		if err := l.Add(s); err != nil {
			b.Fatal(err)
		}
	}
	all := func(floodmark.NodeID) bool { return true }
	for name, ask := range map[string]func(){
		"NewBelow": func() { l.NewBelow(floodmark.NodeID(n), floodmark.Local, all) },
		"Within":   func() { l.Within(label(floodmark.Untrusted, floodmark.Private)) },
		"Blame":    func() { l.Blame(floodmark.Untrusted) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ask()
			}
		})
	}
}
