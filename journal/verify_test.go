package journal

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// three returns a bench with sessions of 9, 6 and 4 entries, all signed in two checkpoints, at
// 12:03 and 12:03, and one more entry that is not signed.
func three(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.write("s1", 5)
	b.write("s2", 6)
	b.step()
	b.write("s1", 4)
	b.write("s3", 4)
	b.step()
	b.write("s3", 1)
	return b
}

func (b *bench) entries(id string) []Entry { return b.j.sessions[named(id)].entries }

func TestVerifyCounts(t *testing.T) {
	b := three(t)
	b.forget("s2")
	r := b.verify()
	want := Report{
		Sessions: 3, Erased: 1, Entries: 14, Checkpoints: 2, Leaves: 4, Newest: r.Newest, Unsigned: 1,
		Worth: "detects damage, not the owner's own rewriting: the log of heads is within reach of whoever can write the journal",
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	ev := b.evidence()
	ev.Apart = true
	r, err := Verify(t.Context(), b.j, ev, nil)
	if err != nil || !strings.Contains(r.Worth, "up to the checkpoint of 2026-11-15 12:03 UTC; 1 newer entries") {
		t.Errorf("apart: %q, %v", r.Worth, err)
	}
	r, err = Verify(t.Context(), b.j, Evidence{Keys: b.key.Verifiers(), Apart: true}, nil)
	if err != nil || !r.OK() || r.Unsigned != 14 || !strings.Contains(r.Worth, "no signed checkpoint") {
		t.Errorf("without a log: %+v, %v", r, err)
	}
}

func TestVerifyFinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*bench)
		kind  FindingKind
		text  string
	}{
		{"changed body", func(b *bench) { b.entries("s1")[6].Body[9] ^= 1 }, Changed, "entry 7 of session firm/s1 was changed"},
		{"changed kind", func(b *bench) { b.entries("s1")[6].Kind = "endorsed" }, Changed, "entry 7 of session firm/s1 was changed"},
		{"changed time", func(b *bench) { b.entries("s1")[6].At++ }, Changed, "entry 7 of session firm/s1 was changed"},
		{"changed prev", func(b *bench) { b.entries("s1")[6].Prev[0]++ }, Changed, "entry 7 of session firm/s1 was changed"},
		{"changed hash", func(b *bench) { b.entries("s1")[6].Hash[0]++ }, Changed, "entry 7 of session firm/s1 was changed"},
		{"changed number", func(b *bench) { b.entries("s1")[6].Seq = 70 }, Changed, "entry 70 of session firm/s1 was changed"},
		{
			"changed and sealed again", func(b *bench) {
				e := &b.entries("s1")[6]
				e.At++
				e.Hash, _ = e.sum(nil)
			}, Changed, "entry 8 of session firm/s1 does not follow the one before it: one of the two was changed, or belongs elsewhere",
		},
		{"rewritten to the end", func(b *bench) { rewrite(b, "s1", 3) }, Rewritten, "entry 5 of session firm/s1 is not the one a signed checkpoint of 2026-11-15 12:03 UTC saw: the session was rewritten"},
		{"lost within", func(b *bench) { k := b.j.sessions[named("s1")]; k.entries = slices.Delete(k.entries, 2, 4) }, Missing, "entries 3 to 4 of session firm/s1 are missing"},
		{"lost beginning", func(b *bench) { k := b.j.sessions[named("s1")]; k.entries = k.entries[2:] }, Missing, "entries 1 to 2 of session firm/s1 are missing"},
		{"lost tail", func(b *bench) { k := b.j.sessions[named("s2")]; k.entries = k.entries[:5] }, TailGone, "session firm/s2 ends at 5 but a signed checkpoint of 2026-11-15 12:03 UTC saw 6: the tail is gone"},
		{"lost session", func(b *bench) { delete(b.j.sessions, named("s3")) }, Gone, "session firm/s3 is gone: a signed checkpoint of 2026-11-15 12:03 UTC saw 4 entries of it"},
		{"emptied session", func(b *bench) { b.j.sessions[named("s3")].entries = nil }, Gone, "session firm/s3 is gone: a signed checkpoint of 2026-11-15 12:03 UTC saw 4 entries of it"},
		{"order", func(b *bench) { e := b.entries("s1"); e[2], e[3] = e[3], e[2] }, Changed, "entry 3 of session firm/s1 stands where entry 5 belongs"},
		{"swapped sessions", func(b *bench) {
			b.j.sessions[named("s1")], b.j.sessions[named("s2")] = b.j.sessions[named("s2")], b.j.sessions[named("s1")]
		}, Changed, "entry 1 of session firm/s2 does not follow the one before it: one of the two was changed, or belongs elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := three(t)
			c.spoil(b)
			found(t, b.verify(), c.kind, c.text)
		})
	}
}

// rewrite changes an entry and reseals all that follow, as an attacker with write access but no key
// would.
func rewrite(b *bench, id string, from int) {
	entries := b.entries(id)
	prev := entries[from-2].Hash
	for i := from - 1; i < len(entries); i++ {
		e := &entries[i]
		e.Prev = prev
		e.Body = []byte(`{"kind":"test","text":"nothing happened"}`)
		e.Hash, _ = e.sum(nil)
		prev = e.Hash
	}
}

func TestVerifyFindsEverySignedHeadOfARewrittenSession(t *testing.T) {
	b := three(t)
	rewrite(b, "s1", 7)
	r := b.verify()
	found(t, r, Rewritten, "entry 9 of session firm/s1 is not the one a signed checkpoint of 2026-11-15 12:03 UTC saw: the session was rewritten")
	if r.Found != 1 {
		t.Errorf("%+v", r.Findings)
	}
	// Signing the rewritten session later does not hide the change.
	b.last[named("s1")] = b.entries("s1")[8].Link()
	b.write("s1", 1)
	b.step()
	if r := b.verify(); r.Found != 1 {
		t.Errorf("%+v", r.Findings)
	}
}

func TestVerifyFindsASessionSetBack(t *testing.T) {
	b := three(t)
	k := b.j.sessions[named("s1")]
	k.entries = k.entries[:7]
	b.last[named("s1")] = k.last()
	b.write("s1", 1)
	b.step()
	r := b.verify()
	found(t, r, Rewritten, "session firm/s1 stood at entry 9 in the checkpoint of 2026-11-15 12:03 UTC and at another entry 8 in that of 2026-11-15 12:03 UTC: it was set back in between")
	found(t, r, TailGone, "session firm/s1 ends at 8 but a signed checkpoint of 2026-11-15 12:03 UTC saw 9: the tail is gone")
}

func TestVerifyFindsDamageOfTheLog(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*bench, *Evidence)
		kind  FindingKind
		text  string
	}{
		{"changed leaf", func(b *bench, _ *Evidence) { b.log.leaves[2] = b.log.leaves[1] }, LogDamaged, "the log of heads was changed: its first 4 heads are not those a checkpoint of 2026-11-15 12:03 UTC signed"},
		{"lost leaf", func(b *bench, _ *Evidence) { b.log.leaves = b.log.leaves[:3] }, LogDamaged, "the log of heads ends after 3 heads, but a checkpoint of 2026-11-15 12:03 UTC signed 4: its tail is gone"},
		{"order of notes", func(b *bench, _ *Evidence) { slices.Reverse(b.log.notes) }, LogDamaged, "checkpoint 2 counts 2 heads, one before it 4: the checkpoints are not in order, or the newest was replaced by an old one"},
		{"another store", func(_ *bench, ev *Evidence) { ev.Store = "server" }, Forged, `checkpoint 1 does not count: it is about store "laptop", not "server"`},
		{"lost notes", func(b *bench, _ *Evidence) {
			b.write("s1", 1)
			b.step()
			b.log.notes = b.log.notes[:1]
		}, LogDamaged, "the newest checkpoints are gone: behind head 2, the last that was signed, stand heads of several"},
		{"all notes lost", func(b *bench, _ *Evidence) { b.log.notes = nil }, LogDamaged, "the newest checkpoints are gone: behind head 0, the last that was signed, stand heads of several"},
		{"held elsewhere", func(b *bench, ev *Evidence) {
			ev.Held = b.log.notes[1:]
			b.log.notes, b.log.leaves = b.log.notes[:1], b.log.leaves[:2]
		}, LogDamaged, "the log of heads ends after 2 heads, but a checkpoint of 2026-11-15 12:03 UTC signed 4: its tail is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := three(t)
			ev := b.evidence()
			c.spoil(b, &ev)
			r, err := Verify(t.Context(), b.j, ev, nil)
			if err != nil {
				t.Fatal(err)
			}
			found(t, r, c.kind, c.text)
			for _, f := range r.Findings {
				if f.Session != (Session{}) {
					t.Errorf("a session is blamed for it: %s", f.Text)
				}
			}
		})
	}
}

func TestVerifyBelievesNoOtherKey(t *testing.T) {
	b := three(t)
	other := testKey(t, 2)
	b.forget("s1")
	r, err := Verify(t.Context(), b.j, Evidence{Log: b.log, Keys: other.Verifiers()}, nil)
	if err != nil || r.Found != 3 || r.Checkpoints != 0 {
		t.Errorf("%v: %+v", err, r)
	}
	r, err = Verify(t.Context(), b.j, Evidence{Log: b.log, Keys: other.Verifiers(b.key.Verifier)}, nil)
	if err != nil || !r.OK() || r.Checkpoints != 2 {
		t.Errorf("an older key still counts: %v: %+v", err, r)
	}
	r, err = Verify(t.Context(), b.j, Evidence{Log: b.log}, nil)
	if err != nil || r.Found != 3 {
		t.Errorf("no key at all: %v: %+v", err, r)
	}
}

// A log that is too long for the memory is read in parts, with the same result.
func TestVerifyInParts(t *testing.T) {
	b := newBench(t)
	for i := range 300 {
		b.write(fmt.Sprintf("s%d", i%40), 1)
		if i%10 == 0 {
			b.step()
		}
	}
	b.step()
	delete(b.j.sessions, named("s7"))
	b.entries("s8")[2].At++
	whole := b.verify()
	v := &verification{journal: b.j, evidence: b.evidence(), tell: func(Report) {}, keep: 50, words: newWords()}
	v.seed = maphash.MakeSeed()
	if err := v.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v.parts < 5 {
		t.Fatalf("%d parts", v.parts)
	}
	v.report.Worth = whole.Worth
	byText := func(a, b Finding) int { return strings.Compare(a.Text, b.Text) }
	slices.SortFunc(v.report.Findings, byText)
	slices.SortFunc(whole.Findings, byText)
	if diff := cmp.Diff(whole, v.report); diff != "" {
		t.Error(diff)
	}
}

// A badDisk cannot read one session, or lists a session with more entries than it has.
type badDisk struct {
	*Memory
	bad     Session
	err     error
	further uint64
	other   byte   // the list has another hash
	before  func() // what happens between Begin and Read
}

func (d badDisk) Read(ctx context.Context, s Session, after uint64) iter.Seq2[Entry, error] {
	if s == d.bad && d.before != nil {
		d.before()
	}
	return func(yield func(Entry, error) bool) {
		for e, err := range d.Memory.Read(ctx, s, after) {
			if s == d.bad && e.Seq == 3 && d.err != nil {
				yield(Entry{}, d.err)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (d badDisk) Heads(ctx context.Context, after Mark) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for h, err := range d.Memory.Heads(ctx, after) {
			if h.Session == d.bad {
				h.Link.Seq += d.further
				h.Link.Hash[0] ^= d.other
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

func TestVerifyGoesOnBehindWhatCannotBeRead(t *testing.T) {
	b := three(t)
	bad := badDisk{Memory: b.j, bad: named("s2"), err: errors.New("page 12 is corrupt")}
	r, err := Verify(t.Context(), bad, b.evidence(), nil)
	if err != nil || r.Found != 1 || r.Sessions != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	found(t, r, Unreadable, "session firm/s2 cannot be read from entry 3 on: page 12 is corrupt")
	bad.err = ErrClosed
	if _, err := Verify(t.Context(), bad, b.evidence(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	bad.err, bad.further = nil, 2
	r, err = Verify(t.Context(), bad, b.evidence(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found(t, r, TailGone, "session firm/s2 ends at 6 but the journal's own list says 8: the tail is gone")
	bad.further, bad.other = 0, 1
	if r, err = Verify(t.Context(), bad, b.evidence(), nil); err != nil {
		t.Fatal(err)
	}
	found(t, r, Changed, "entry 6 of session firm/s2 is not the one the journal's own list of sessions names")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, b.j, b.evidence(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestVerifyBesideAnEraser(t *testing.T) {
	b := three(t)
	busy := badDisk{Memory: b.j, bad: named("s2"), before: func() { b.forget("s2") }}
	r, err := Verify(t.Context(), busy, b.evidence(), nil)
	if err != nil || !r.OK() || r.Erased != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestVerifyTellsProgress(t *testing.T) {
	b := newBench(t)
	b.write("s1", 30_000)
	b.write("s2", 30_000)
	b.step()
	var told []int64
	if _, err := Verify(t.Context(), b.j, b.evidence(), func(r Report) { told = append(told, r.Entries) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{50_000, 60_000}, told); diff != "" {
		t.Error(diff)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	b := newBench(t)
	for i := range MaxFindings/maxSessionFindings + 2 {
		id := fmt.Sprintf("s%d", i)
		b.write(id, maxSessionFindings+5)
		for n := range b.entries(id) {
			b.entries(id)[n].At++
		}
	}
	r := b.verify()
	if len(r.Findings) != MaxFindings || r.Found != MaxFindings+2*maxSessionFindings {
		t.Errorf("%d listed of %d", len(r.Findings), r.Found)
	}
}

func TestProbe(t *testing.T) {
	probe := func(b *bench) Report {
		r, err := Probe(t.Context(), b.j, b.evidence())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b := three(t)
	b.forget("s2")
	if r := probe(b); !r.OK() || r.Sessions != 3 || r.Erased != 1 {
		t.Errorf("all is well: %+v", r)
	}
	found(t, func() Report { b := three(t); b.j = NewMemory(); return probe(b) }(), TailGone, "entry 4 of session firm/s3 is gone, which a signed checkpoint of 2026-11-15 12:03 UTC saw")
	b = three(t)
	rewrite(b, "s1", 3)
	found(t, probe(b), Rewritten, "entry 9 of session firm/s1 is not the one a signed checkpoint of 2026-11-15 12:03 UTC saw")
	b = three(t)
	b.entries("s2")[5].Body[9] ^= 1
	found(t, probe(b), Rewritten, "entry 6 of session firm/s2 is not the one a signed checkpoint of 2026-11-15 12:03 UTC saw")
	b = three(t)
	b.forget("s2")
	b.j.sessions[named("s2")].stone.Why = "retention"
	found(t, probe(b), Forged, "session firm/s2 was erased, but its tombstone does not count")
	b = three(t)
	b.log.leaves = b.log.leaves[:3]
	found(t, probe(b), LogDamaged, "the log of heads lacks some of the 4 heads a checkpoint of 2026-11-15 12:03 UTC signed")
	b = newBench(t)
	if r := probe(b); !r.OK() || !strings.Contains(r.Worth, "no signed checkpoint") {
		t.Errorf("nothing signed yet: %+v", r)
	}
	b = three(t)
	b.key = testKey(t, 2)
	if r := probe(b); r.Found != 1 || r.Findings[0].Kind != Forged {
		t.Errorf("another key: %+v", r)
	}
}

// Verifying some sessions reports no others, not even missing ones.
func TestVerifyOnlySome(t *testing.T) {
	b := three(t)
	b.entries("s1")[6].Body[9] ^= 1
	delete(b.j.sessions, named("s3"))
	ev := b.evidence()
	ev.Only = func(s Session) bool { return s == named("s2") }
	r, err := Verify(t.Context(), b.j, ev, nil)
	if err != nil || !r.OK() || r.Sessions != 1 || r.Entries != 6 {
		t.Errorf("s2 alone: %+v, %v", r, err)
	}
	ev.Only = func(s Session) bool { return s == named("s3") }
	if r, err = Verify(t.Context(), b.j, ev, nil); err != nil || r.Found != 1 || r.Findings[0].Kind != Gone {
		t.Errorf("s3 alone: %+v, %v", r, err)
	}
}
