package journaltest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

func wantBegin(t *testing.T, j journal.Journal, s journal.Session, want journal.Start) {
	t.Helper()
	got, err := j.Begin(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want.Snapshot, got.Snapshot) {
		t.Errorf("session %s begins with snapshot %.100q, want %.100q", s, got.Snapshot, want.Snapshot)
	}
	want.Snapshot, got.Snapshot = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session %s begins (-want +got):\n%s", s, diff)
	}
}

func snapshots(t *testing.T, j journal.Journal) {
	c, d := NewChain("", "s1"), NewChain("", "s2")
	appendAll(t, j, c.Next(t, "one"))
	wantBegin(t, j, c.Session, journal.Start{})
	r := c.Next(t, "two", "three")
	r.Snapshot = []byte("after three")
	appendAll(t, j, r)
	three := journal.Start{Link: c.Last, Snapshot: []byte("after three")}
	wantBegin(t, j, c.Session, three)
	appendAll(t, j, c.Next(t, "four"), c.Next(t, "five"))
	wantBegin(t, j, c.Session, three)
	c.verify(t, j, three.Link.Seq)
	r = c.Next(t, "six")
	r.Snapshot = []byte("6")
	e := d.Next(t, "one")
	e.Snapshot = []byte(text(3, 1<<20))
	if err := j.Append(t.Context(), batch(r, e)); err != nil {
		t.Fatal(err)
	}
	wantBegin(t, j, c.Session, journal.Start{Link: c.Last, Snapshot: []byte("6")})
	wantBegin(t, j, d.Session, journal.Start{Link: d.Last, Snapshot: e.Snapshot})
	appendAll(t, j, c.Next(t, "seven"))
	c.verify(t, j, 6)
	c.Verify(t, j)
}

// tombstone returns a tombstone for all entries of chain c.
func tombstone(c *Chain) journal.Tombstone {
	return journal.Tombstone{
		Session: c.Session,
		Link:    c.Last,
		Mark:    floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private},
		At:      1_700_000_000_123_456_789,
		Why:     "owner",
		Note:    []byte("note\n\n— example signature\n"),
	}
}

func eraseConflict(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	wantErr(t, "a session nobody wrote", j.Erase(t.Context(), journal.Tombstone{Session: c.Session}), journal.ErrConflict)
	appendAll(t, j, c.Next(t, "one"), c.Next(t, "two"))
	old, ahead, wrong, other := tombstone(c), tombstone(c), tombstone(c), tombstone(c)
	old.Link = c.Entries[0].Link()
	ahead.Link.Seq++
	wrong.Link.Hash[0] ^= 1
	other.Session.Tenant = "other"
	for what, s := range map[string]journal.Tombstone{"an older entry": old, "one ahead": ahead, "another hash": wrong, "another tenant": other} {
		wantErr(t, what, j.Erase(t.Context(), s), journal.ErrConflict)
	}
	c.Verify(t, j)
	wantBegin(t, j, c.Session, journal.Start{})
}

func erase(t *testing.T, j journal.Journal) {
	c, beside := NewChain("t", "s1"), NewChain("", "s1")
	r := c.Next(t, "one", "two")
	first := r
	r.Snapshot = []byte("state")
	appendAll(t, j, r, c.Next(t, "three"), beside.Next(t, "one"))
	stone := tombstone(c)
	if err := j.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	for after := range uint64(5) {
		if got := collect(t, j.Read(t.Context(), c.Session, after)); len(got) != 0 {
			t.Errorf("%d entries after %d are left", len(got), after)
		}
	}
	wantBegin(t, j, c.Session, journal.Start{Link: stone.Link, Tombstone: &stone})
	beside.Verify(t, j)

	wantErr(t, "what was erased, again", j.Append(t.Context(), batch(first)), journal.ErrConflict)
	last := c.Entries[2]
	wantErr(t, "the last that was erased, again", j.Append(t.Context(), batch(journal.Record{
		Session: c.Session, After: c.Entries[1].Link(), Entries: []journal.Entry{last},
	})), journal.ErrConflict)
	fresh := &Chain{Session: c.Session}
	wantErr(t, "a session begun anew", j.Append(t.Context(), batch(fresh.Peek(t, "one"))), journal.ErrConflict)

	appendAll(t, j, c.Next(t, "four"), c.Next(t, "five", "six"))
	c.verify(t, j, stone.Link.Seq)
	c.verify(t, j, stone.Link.Seq+1)
	wantBegin(t, j, c.Session, journal.Start{Link: stone.Link, Tombstone: &stone})
	// Reading from an erased entry yields what follows the tombstone.
	for after := range stone.Link.Seq {
		got := collect(t, j.Read(t.Context(), c.Session, after))
		if diff := cmp.Diff(c.Entries[3:], got); diff != "" {
			t.Errorf("read after %d (-want +got):\n%s", after, diff)
		}
	}
}

func stoneStays(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "one"))
	stone := tombstone(c)
	if err := j.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	r := c.Next(t, "two")
	r.Snapshot = []byte("after two")
	appendAll(t, j, r, c.Next(t, "three"))
	wantBegin(t, j, c.Session, journal.Start{Link: c.Entries[1].Link(), Snapshot: []byte("after two"), Tombstone: &stone})
	c.verify(t, j, 2)
	c.verify(t, j, 1)

	again := tombstone(c)
	again.Why = "retention"
	again.Mark = floodmark.Label{}
	again.Note = []byte("another")
	if err := j.Erase(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	wantBegin(t, j, c.Session, journal.Start{Link: c.Last, Tombstone: &again})
	if n := count(t, j, c.Session); n != 0 {
		t.Errorf("%d entries are left", n)
	}
	appendAll(t, j, c.Next(t, "four"))
	c.verify(t, j, 3)
}
