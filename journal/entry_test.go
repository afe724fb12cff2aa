package journal_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

func sealed(t *testing.T, s journal.Session, after journal.Link, texts ...string) []journal.Entry {
	t.Helper()
	var facts []floodmark.Fact
	for _, text := range texts {
		facts = append(facts, floodmark.IncidentSeen{Kind: "example", Text: text})
	}
	entries, err := journal.Seal(s, after, time.Unix(1_700_000_000, 5), facts)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestEntryForm fixes the bytes that are hashed, because a journal of today must verify for ever.
func TestEntryForm(t *testing.T) {
	s := journal.Session{Tenant: "t", ID: "s1"}
	e := sealed(t, s, journal.Link{}, "one", "two")
	for what, pair := range map[string][2]string{
		"genesis": {journal.Genesis(s).String(), "ded2cf27bd84006dc408128dd4653eb82ebd9e20cf694a4e5af35cb3eb4afd62"},
		"first":   {e[0].Hash.String(), "bc2385bbe04328f8326b84e93fe4c15a47c4a3e9d4eabc7d7f8bbc1cd478d0c5"},
		"second":  {e[1].Hash.String(), "7ed22c5e46a80957be74839e6824bab34ada68fb11b53da93cc5b2535f974933"},
		"body":    {string(e[0].Body), `{"kind":"example","text":"one"}`},
		"kind":    {e[0].Kind, "incident-seen"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %s, was always %s", what, pair[0], pair[1])
		}
	}
	if e[0].Seq != 1 || e[0].Prev != journal.Genesis(s) || e[1].Seq != 2 || e[1].Prev != e[0].Hash {
		t.Errorf("not a chain: %+v", e)
	}
	if got := e[0].Time(); !got.Equal(time.Unix(1_700_000_000, 5)) || got.Location() != time.UTC {
		t.Errorf("time %v", got)
	}
	if f, err := e[1].Fact(); err != nil || f != floodmark.Fact(floodmark.IncidentSeen{Kind: "example", Text: "two"}) {
		t.Errorf("fact %v, %v", f, err)
	}
}

// TestGenesisLaw: no two sessions have the same first hash, wherever their names are split.
func TestGenesisLaw(t *testing.T) {
	seen := map[journal.Hash]journal.Session{}
	for _, tenant := range []string{"", "a", "ab", "a/", "/", "\x00"} {
		for _, id := range []floodmark.SessionID{"a", "b", "ab", "/a", "a/b", "\x00", "\x00a"} {
			s := journal.Session{Tenant: tenant, ID: id}
			h := journal.Genesis(s)
			if other, twice := seen[h]; twice {
				t.Errorf("%q and %q begin alike", s, other)
			}
			seen[h] = s
		}
	}
}

// TestCheckLaw changes one thing at a time: every change is noticed.
func TestCheckLaw(t *testing.T) {
	s := journal.Session{Tenant: "t", ID: "s1"}
	entries := sealed(t, s, journal.Link{}, "one", "two", "three")
	prev := entries[0].Link()
	good := entries[1]
	if err := journal.Check(s, prev, good); err != nil {
		t.Fatal(err)
	}
	if err := journal.Check(s, journal.Link{}, entries[0]); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		e, at := good, s
		before := prev
		e.Body = append([]byte(nil), good.Body...)
		switch rnd.IntN(10) {
		case 0:
			e.Seq ^= 1 << rnd.IntN(64)
		case 1:
			e.At ^= 1 << rnd.IntN(64)
		case 2:
			e.Prev[rnd.IntN(32)] ^= 1 << rnd.IntN(8)
		case 3:
			e.Hash[rnd.IntN(32)] ^= 1 << rnd.IntN(8)
		case 4:
			e.Kind, e.Body = e.Kind[:len(e.Kind)-1], append([]byte(e.Kind[len(e.Kind)-1:]), e.Body...)
		case 5:
			e.Body[rnd.IntN(len(e.Body))] ^= 1 << rnd.IntN(8)
		case 6:
			e.Body = e.Body[:rnd.IntN(len(e.Body))]
		case 7:
			before.Hash[rnd.IntN(32)] ^= 1 << rnd.IntN(8)
		case 8:
			before.Seq ^= 1 << rnd.IntN(64)
		case 9:
			e, before, at.ID = entries[0], journal.Link{}, "s2"
		}
		if err := journal.Check(at, before, e); !errors.Is(err, journal.ErrBroken) {
			t.Fatalf("a changed entry passed: %+v after %+v: %v", e, before, err)
		}
	}
}

func TestSealRefusesNoFact(t *testing.T) {
	if _, err := journal.Seal(journal.Session{ID: "s"}, journal.Link{}, time.Unix(1, 0), []floodmark.Fact{nil}); err == nil {
		t.Error("sealed nothing")
	}
}
