package journal

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/floodmark/floodmark"
)

// history writes, signs and erases at random, and signs everything in the end.
func history(t *testing.T, rt *rapid.T) *bench {
	b := newBench(t)
	b.write("s1", 1)
	for range rapid.IntRange(1, 12).Draw(rt, "deeds") {
		id := fmt.Sprintf("s%d", rapid.IntRange(1, 4).Draw(rt, "session"))
		switch rapid.IntRange(0, 5).Draw(rt, "deed") {
		case 0:
			b.step()
		case 1:
			if _, ok := b.last[named(id)]; ok {
				b.forget(id)
			}
		default:
			b.write(id, rapid.IntRange(1, 4).Draw(rt, "entries"))
		}
	}
	b.step()
	if r := b.verify(); !r.OK() {
		rt.Fatalf("an honest journal: %+v", r.Findings)
	}
	return b
}

// flip changes one bit.
func flip(rt *rapid.T, b []byte) {
	i := rapid.IntRange(0, len(b)*8-1).Draw(rt, "bit")
	b[i/8] ^= 1 << (i % 8)
}

func flipText(rt *rapid.T, s string) string {
	b := []byte(s)
	flip(rt, b)
	return string(b)
}

func flipNumber(rt *rapid.T, n uint64) uint64 {
	return n ^ 1<<rapid.IntRange(0, 63).Draw(rt, "bit")
}

func flipEntry(rt *rapid.T, e *Entry) {
	switch rapid.SampledFrom([]string{"seq", "at", "prev", "hash", "kind", "body"}).Draw(rt, "field") {
	case "seq":
		e.Seq = flipNumber(rt, e.Seq)
	case "at":
		e.At = int64(flipNumber(rt, uint64(e.At)))
	case "prev":
		flip(rt, e.Prev[:])
	case "hash":
		flip(rt, e.Hash[:])
	case "kind":
		e.Kind = flipText(rt, e.Kind)
	case "body":
		e.Body = slices.Clone(e.Body)
		flip(rt, e.Body)
	}
}

func flipStone(rt *rapid.T, t *Tombstone) {
	switch rapid.SampledFrom([]string{"tenant", "id", "seq", "hash", "trust", "secrecy", "at", "why", "note"}).Draw(rt, "field") {
	case "tenant":
		t.Session.Tenant = flipText(rt, t.Session.Tenant)
	case "id":
		t.Session.ID = floodmark.SessionID(flipText(rt, string(t.Session.ID)))
	case "seq":
		t.Link.Seq = flipNumber(rt, t.Link.Seq)
	case "hash":
		flip(rt, t.Link.Hash[:])
	case "trust":
		t.Mark.Trust++
	case "secrecy":
		t.Mark.Secrecy++
	case "at":
		t.At = int64(flipNumber(rt, uint64(t.At)))
	case "why":
		t.Why = flipText(rt, t.Why)
	case "note":
		t.Note = slices.Clone(t.Note)
		flip(rt, t.Note)
	}
}

// A law: a change of any bit in an entry, a tombstone, a leaf or a checkpoint is noticed.
func TestVerifyLawAnyBit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := history(t, rt)
		var entries []*Entry
		var stones []*Tombstone
		for _, id := range []string{"s1", "s2", "s3", "s4"} {
			if k := b.j.sessions[named(id)]; k != nil {
				for i := range k.entries {
					entries = append(entries, &k.entries[i])
				}
				if k.stone != nil {
					stones = append(stones, k.stone)
				}
			}
		}
		what := rapid.SampledFrom([]string{"entry", "stone", "leaf", "note"}).Draw(rt, "what")
		switch {
		case what == "entry" && len(entries) > 0:
			flipEntry(rt, rapid.SampledFrom(entries).Draw(rt, "entry"))
		case what == "stone" && len(stones) > 0:
			flipStone(rt, rapid.SampledFrom(stones).Draw(rt, "stone"))
		case what == "note":
			i := rapid.IntRange(0, len(b.log.notes)-1).Draw(rt, "note")
			flip(rt, b.log.notes[i])
		default:
			i := rapid.IntRange(0, len(b.log.leaves)-1).Draw(rt, "leaf")
			b.log.leaves[i] = flipText(rt, b.log.leaves[i])
		}
		if r := b.verify(); r.OK() {
			rt.Fatal("not noticed")
		}
	})
}

// A law: moving, dropping or resealing entries without the key is noticed.
func TestVerifyLawAnyMove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := history(t, rt)
		var all []Session
		for s, k := range b.j.sessions {
			if len(k.entries) > 0 {
				all = append(all, s)
			}
		}
		if len(all) == 0 {
			rt.Skip("everything is erased")
		}
		slices.SortFunc(all, func(a, b Session) int { return int(a.ID[1]) - int(b.ID[1]) })
		s := rapid.SampledFrom(all).Draw(rt, "session")
		k := b.j.sessions[s]
		i := rapid.IntRange(0, len(k.entries)-1).Draw(rt, "entry")
		switch rapid.SampledFrom([]string{"drop", "cut", "twice", "lose", "seal", "stone"}).Draw(rt, "move") {
		case "drop":
			k.entries = slices.Delete(k.entries, i, i+1)
		case "cut":
			k.entries = k.entries[:i]
		case "twice":
			k.entries = slices.Insert(k.entries, i, k.entries[i])
		case "lose":
			delete(b.j.sessions, s)
		case "seal":
			resealFrom(k.entries, i)
		case "stone":
			forged, err := SignTombstone(testKey(t, 2).Signer, Tombstone{Session: s, Link: k.last(), Why: WhyOwner})
			if err != nil {
				rt.Fatal(err)
			}
			b.j.sessions[s] = &kept{base: forged.Link, stone: &forged, mark: k.mark}
		}
		if r := b.verify(); r.OK() {
			rt.Fatal("not noticed")
		}
	})
}

// resealFrom changes entry i and reseals it and all entries that follow.
func resealFrom(entries []Entry, i int) {
	entries[i].At++
	for ; i < len(entries); i++ {
		entries[i].Hash, _ = entries[i].sum(nil)
		if i+1 < len(entries) {
			entries[i+1].Prev = entries[i].Hash
		}
	}
}
