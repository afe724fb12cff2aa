package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
)

func stoneExample() Tombstone {
	return Tombstone{
		Session: Session{ID: "s1"}, Link: Link{Seq: 9, Hash: Hash{0xab}},
		Mark: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private},
		At:   time.Date(2026, 11, 15, 12, 3, 0, 5, time.UTC).UnixNano(), Why: WhyRetention,
	}
}

func TestTombstoneForm(t *testing.T) {
	key := testKey(t, 1)
	signed, err := SignTombstone(key.Signer, stoneExample())
	if err != nil {
		t.Fatal(err)
	}
	want := "floodmark tombstone\n- 7331 9 ab" + strings.Repeat("00", 31) + "\nexternal private\n2026-11-15T12:03:00.000000005Z\nretention\n"
	text, _, _ := strings.Cut(string(signed.Note), "\n\n")
	if diff := cmp.Diff(want, text+"\n"); diff != "" {
		t.Error(diff)
	}
	got, err := OpenTombstone(key.Verifiers(), signed.Note)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(signed, got); diff != "" {
		t.Error(diff)
	}
	if err := CheckTombstone(key.Verifiers(), signed); err != nil {
		t.Error(err)
	}
	if err := CheckTombstone(testKey(t, 2).Verifiers(), signed); !errors.Is(err, ErrForged) {
		t.Errorf("another key: %v", err)
	}
}

func TestTombstoneRefuses(t *testing.T) {
	key := testKey(t, 1)
	limit := stoneExample()
	limit.Why = strings.Repeat("x", MaxWhyBytes)
	limit.Session = Session{Tenant: strings.Repeat("t", MaxTenantBytes), ID: floodmark.SessionID(strings.Repeat("s", MaxSessionBytes))}
	signed, err := SignTombstone(key.Signer, limit)
	if err == nil {
		err = CheckTombstone(key.Verifiers(), signed)
	}
	if err != nil {
		t.Errorf("at the limits: %v", err)
	}
	for name, change := range map[string]func(*Tombstone){
		"no session":        func(s *Tombstone) { s.Session.ID = "" },
		"long session":      func(s *Tombstone) { s.Session.ID = limit.Session.ID + "s" },
		"long tenant":       func(s *Tombstone) { s.Session.Tenant = limit.Session.Tenant + "t" },
		"nothing erased":    func(s *Tombstone) { s.Link.Seq = 0 },
		"no such trust":     func(s *Tombstone) { s.Mark.Trust = 6 },
		"no such secrecy":   func(s *Tombstone) { s.Mark.Secrecy = 4 },
		"no reason":         func(s *Tombstone) { s.Why = "" },
		"long reason":       func(s *Tombstone) { s.Why = limit.Why + "x" },
		"two lines":         func(s *Tombstone) { s.Why = "a\nb" },
		"a terminal escape": func(s *Tombstone) { s.Why = "a\x1b[2J" },
	} {
		s := stoneExample()
		change(&s)
		if _, err := SignTombstone(key.Signer, s); err == nil {
			t.Errorf("%s: signed", name)
		}
		if _, err := OpenTombstone(key.Verifiers(), resign(t, key, strings.ReplaceAll(s.text(), "\x1b", "\u202e"))); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	long := append(append([]byte{}, signed.Note...), make([]byte, MaxNoteBytes)...)
	if _, err := OpenTombstone(key.Verifiers(), long); !errors.Is(err, ErrForged) {
		t.Errorf("a long note: %v", err)
	}
	checkpoint, err := Checkpoint{Size: 1, At: time.Unix(1, 0)}.Sign(key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTombstone(key.Verifiers(), checkpoint); err == nil {
		t.Error("a checkpoint is not a tombstone")
	}
}

func TestVerifyHoldsTombstonesAgainstCheckpoints(t *testing.T) {
	b := three(t)
	b.forget("s1")
	b.write("s1", 2)
	if r := b.verify(); !r.OK() || r.Erased != 1 {
		t.Fatalf("%+v", r)
	}
	b.step()
	b.forget("s1")
	b.step()
	if r := b.verify(); !r.OK() || r.Erased != 1 || r.Unsigned != 0 {
		t.Fatalf("erased twice: %+v", r)
	}

	// A tombstone with a valid signature, for an entry that never existed.
	k := b.j.sessions[named("s2")]
	wrong := stoneExample()
	wrong.Session, wrong.Link = named("s2"), Link{Seq: 6, Hash: Hash{1}}
	wrong, err := SignTombstone(b.key.Signer, wrong)
	if err != nil {
		t.Fatal(err)
	}
	entries := k.entries
	k.entries, k.base, k.stone = nil, wrong.Link, &wrong
	found(t, b.verify(), Rewritten, "the tombstone of session firm/s2 stands for another entry 6 than the one a signed checkpoint of 2026-11-15 12:03 UTC saw")
	// A tombstone of another session.
	k.stone = b.j.sessions[named("s1")].stone
	found(t, b.verify(), Forged, "entries 1 to 11 of session firm/s2 were erased, but the tombstone does not count: it is the tombstone of session firm/s1")
	// A tombstone that erased nothing.
	k.entries, k.base, k.stone = entries, Link{}, nil
	stone := b.forget("s2")
	k = b.j.sessions[named("s2")]
	k.entries, k.base, k.stone = entries, Link{}, &stone
	found(t, b.verify(), NotErased, "entry 1 of session firm/s2 is still there, although a tombstone says that it was erased")
	// A session that is shorter than what was signed.
	b.j.sessions[named("s2")] = &kept{}
	b = three(t)
	s := named("s1")
	short := stoneExample()
	short.Session, short.Link = s, b.entries("s1")[4].Link()
	if short, err = SignTombstone(b.key.Signer, short); err != nil {
		t.Fatal(err)
	}
	b.j.sessions[s] = &kept{base: short.Link, stone: &short, mark: 1}
	found(t, b.verify(), TailGone, "session firm/s1 ends at 5 but a signed checkpoint of 2026-11-15 12:03 UTC saw 9: the tail is gone")
}

func TestVerifyLooksAtThePlaceOfSnapshots(t *testing.T) {
	b := three(t)
	k := b.j.sessions[named("s1")]
	k.snapshot = Start{Link: k.entries[7].Link(), Snapshot: []byte("state")}
	if r := b.verify(); !r.OK() {
		t.Fatalf("%+v", r.Findings)
	}
	k.snapshot.Link.Hash[0]++
	found(t, b.verify(), Changed, "the snapshot of session firm/s1 belongs to another entry 8")
	k.snapshot.Link = Link{Seq: 12}
	found(t, b.verify(), TailGone, "session firm/s1 ends at 9 but the journal's own list says 12: the tail is gone")
	k.snapshot.Link = k.entries[7].Link()
	snapshot := k.snapshot
	b.forget("s1")
	b.j.sessions[named("s1")].snapshot = snapshot
	found(t, b.verify(), NotErased, "a snapshot of session firm/s1 is still there, although a tombstone says that it was erased")
}

func TestForget(t *testing.T) {
	b := three(t)
	stone := b.forget("s1")
	if stone.Link != b.last[named("s1")] || stone.Mark.Trust != floodmark.Untrusted || stone.Why != WhyOwner {
		t.Errorf("%+v", stone)
	}
	if diff := cmp.Diff(stone, b.forget("s1")); diff != "" {
		t.Errorf("a second time: %s", diff)
	}
	if _, err := Forget(t.Context(), b.j, b.key.Signer, named("s9"), untrusted, b.now, WhyOwner); !errors.Is(err, ErrUnknownSession) {
		t.Errorf("unknown: %v", err)
	}
	b.entries("s2")[3].At++
	if _, err := Forget(t.Context(), b.j, b.key.Signer, named("s2"), untrusted, b.now, WhyOwner); !errors.Is(err, ErrBroken) || len(b.entries("s2")) != 6 {
		t.Errorf("broken: %v", err)
	}
	k := b.j.sessions[named("s3")]
	k.snapshot = Start{Link: Link{Seq: 7}, Snapshot: []byte("state")}
	if _, err := Forget(t.Context(), b.j, b.key.Signer, named("s3"), untrusted, b.now, WhyOwner); !errors.Is(err, ErrBroken) {
		t.Errorf("cut: %v", err)
	}
}

// An entry is written while its session is erased. The mark is computed again, because the new
// entry may have lowered it.
func TestForgetRunsAfterAWriter(t *testing.T) {
	b := three(t)
	asked := 0
	mark := func(_ context.Context, _ Session, at Link) (floodmark.Label, error) {
		asked++
		if at != b.last[named("s1")] {
			t.Errorf("asked for the mark at %d", at.Seq)
		}
		if asked <= 2 {
			b.write("s1", 1)
			return floodmark.Clean(), nil
		}
		return floodmark.Label{}, nil
	}
	stone, err := Forget(t.Context(), b.j, b.key.Signer, named("s1"), mark, b.now, WhyOwner)
	if err != nil || stone.Link.Seq != 11 || stone.Mark != (floodmark.Label{}) || asked != 3 {
		t.Errorf("%+v, %v, asked %d times", stone, err, asked)
	}
	always := func(context.Context, Session, Link) (floodmark.Label, error) { return floodmark.Label{}, ErrConflict }
	if _, err := Forget(t.Context(), b.j, b.key.Signer, named("s2"), always, b.now, WhyOwner); !errors.Is(err, ErrConflict) {
		t.Errorf("never at rest: %v", err)
	}
	secret := errors.New("no state")
	if _, err := Forget(t.Context(), b.j, b.key.Signer, named("s2"), func(context.Context, Session, Link) (floodmark.Label, error) { return floodmark.Clean(), secret }, b.now, WhyOwner); !errors.Is(err, secret) {
		t.Errorf("without a mark: %v", err)
	}
}

func TestRetention(t *testing.T) {
	b := newBench(t)
	for i := range MaxStepErased + 10 {
		b.write(fmt.Sprintf("old%d", i), 2)
	}
	b.step()
	edge := b.now.Add(time.Second) // when the next entry is written
	b.write("edge", 1)
	b.write("young", 1)
	r := &Retention{Journal: b.j, Signer: b.key.Signer, Mark: untrusted}
	if did, err := r.Step(t.Context(), b.now.Add(1e6*time.Hour)); err != nil || did.Erased != 0 {
		t.Errorf("kept for ever: %+v, %v", did, err)
	}
	r.Keep = time.Hour
	b.entries("old3")[1].At++ // written after the others
	at := edge.Add(r.Keep)
	did, err := r.Step(t.Context(), at)
	if err != nil || did.Erased != MaxStepErased-1 || !did.More {
		t.Fatalf("first step: %+v, %v", did, err)
	}
	if len(did.Kept) != 1 || did.Kept[0].Session != named("old3") || !errors.Is(did.Kept[0].Why, ErrBroken) {
		t.Errorf("kept %+v", did.Kept)
	}
	if did, err = r.Step(t.Context(), at); err != nil || did.Erased != 11 || did.More {
		t.Errorf("second step: %+v, %v", did, err)
	}
	if did, err = r.Step(t.Context(), at); err != nil || did.Erased != 0 || did.More {
		t.Errorf("third step: %+v, %v", did, err)
	}
	if b.j.sessions[named("edge")].stone == nil || b.j.sessions[named("young")].stone != nil {
		t.Error("want edge erased and young kept")
	}
	b.entries("old3")[1].At--
	if v := b.verify(); !v.OK() || v.Erased != MaxStepErased+10 {
		t.Errorf("%+v", v)
	}
	// A new Retention begins at the start and finds only what is due.
	r = &Retention{Journal: b.j, Signer: b.key.Signer, Mark: untrusted, Keep: time.Hour}
	if did, err = r.Step(t.Context(), at.Add(24*time.Hour)); err != nil || did.Erased != 2 {
		t.Errorf("after a restart: %+v, %v", did, err)
	}
}

func TestRetentionQueueIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range maxDue + 1 {
		b.write(fmt.Sprintf("s%d", i), 1)
	}
	r := &Retention{Journal: b.j, Signer: b.key.Signer, Mark: untrusted, Keep: time.Hour}
	at := b.now.Add(2 * time.Hour)
	for _, want := range []int{maxDue, 1, 0} {
		if err := r.look(t.Context(), at); err != nil || len(r.due) != want {
			t.Errorf("%d are due, want %d, %v", len(r.due), want, err)
		}
	}
	if want := at.Add(time.Hour); !r.until.Equal(want) {
		t.Errorf("nothing until %v, want %v", r.until, want)
	}
}

func TestRetentionIsNotHeldUpByAWrongClock(t *testing.T) {
	b := newBench(t)
	b.now = b.now.Add(1e5 * time.Hour)
	b.write("future", 1)
	b.now = b.now.Add(-1e5 * time.Hour)
	b.write("old", 1)
	r := &Retention{Journal: b.j, Signer: b.key.Signer, Mark: untrusted, Keep: time.Hour}
	if did, err := r.Step(t.Context(), b.now.Add(2*time.Hour)); err != nil || did.Erased != 1 {
		t.Errorf("%+v, %v", did, err)
	}
}

func TestRetentionSpares(t *testing.T) {
	b := newBench(t)
	b.write("old", 1)
	b.write("needed", 1)
	r := &Retention{
		Journal: b.j, Signer: b.key.Signer, Mark: untrusted, Keep: time.Hour,
		Spare: func(s Session) bool { return s.ID == "needed" },
	}
	if did, err := r.Step(t.Context(), b.now.Add(2*time.Hour)); err != nil || did.Erased != 1 || did.More {
		t.Errorf("%+v, %v", did, err)
	}
	if len(b.entries("needed")) != 1 || len(b.entries("old")) != 0 {
		t.Error("the wrong one was erased")
	}
}

func TestRetentionLeavesAloneWhatIsWrittenTo(t *testing.T) {
	b := newBench(t)
	b.write("old", 1)
	r := &Retention{Journal: b.j, Signer: b.key.Signer, Keep: time.Hour}
	r.Mark = func(context.Context, Session, Link) (floodmark.Label, error) {
		b.write("old", 1)
		return floodmark.Clean(), nil
	}
	if did, err := r.Step(t.Context(), b.now.Add(2*time.Hour)); err != nil || did.Erased != 0 || len(did.Kept) != 0 {
		t.Errorf("%+v, %v", did, err)
	}
	if len(b.entries("old")) != 2 {
		t.Error("it was erased")
	}
	// A session that was due when it was listed, and is not due any more, is not erased either.
	r.Mark, r.until = untrusted, time.Time{}
	if err := r.look(t.Context(), b.now.Add(2*time.Hour)); err != nil || len(r.due) != 1 {
		t.Fatalf("%d are due, %v", len(r.due), err)
	}
	b.write("old", 1)
	if did, err := r.Step(t.Context(), b.now.Add(2*time.Hour)); err != nil || did.Erased != 0 || len(b.entries("old")) != 3 {
		t.Errorf("%+v, %v", did, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.Mark = func(context.Context, Session, Link) (floodmark.Label, error) {
		cancel()
		return floodmark.Label{}, ctx.Err()
	}
	r.until = time.Time{}
	if _, err := r.Step(ctx, b.now.Add(3*time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzTombstone(f *testing.F) {
	key := testKey(f, 1)
	signed, err := SignTombstone(key.Signer, stoneExample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed.Note, stoneExample().text())
	f.Fuzz(func(t *testing.T, note []byte, text string) {
		if got, err := OpenTombstone(key.Verifiers(), note); err == nil && string(note) != string(signed.Note) {
			t.Errorf("nobody signed %+v", got)
		}
		if got, err := parseTombstone(text); err == nil && got.text() != text {
			t.Errorf("%q reads as %q", text, got.text())
		}
	})
}
