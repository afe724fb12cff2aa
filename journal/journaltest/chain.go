package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A Chain makes the records of one session, one after another, and keeps them.
type Chain struct {
	Session journal.Session
	Last    journal.Link
	Entries []journal.Entry
}

// NewChain returns a chain for a session without entries.
func NewChain(tenant, id string) *Chain {
	return &Chain{Session: journal.Session{Tenant: tenant, ID: floodmark.SessionID(id)}}
}

// Next seals one entry for every text and moves on.
func (c *Chain) Next(t testing.TB, texts ...string) journal.Record {
	t.Helper()
	r := c.Peek(t, texts...)
	c.Entries = append(c.Entries, r.Entries...)
	c.Last = r.Last()
	return r
}

// Peek is Next without moving on.
func (c *Chain) Peek(t testing.TB, texts ...string) journal.Record {
	t.Helper()
	facts := make([]floodmark.Fact, len(texts))
	for i, text := range texts {
		facts[i] = floodmark.IncidentSeen{Kind: "example", Text: text}
	}
	at := time.Unix(1_700_000_000, int64(c.Last.Seq)*1000+7)
	entries, err := journal.Seal(c.Session, c.Last, at, facts)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Record{Session: c.Session, After: c.Last, Entries: entries}
}

// batch returns a batch of records.
func batch(records ...journal.Record) journal.Batch { return journal.Batch{Records: records} }

func appendAll(t testing.TB, j journal.Journal, records ...journal.Record) {
	t.Helper()
	for _, r := range records {
		if err := j.Append(t.Context(), batch(r)); err != nil {
			t.Fatalf("append to %s after %d: %v", r.Session, r.After.Seq, err)
		}
	}
}

// wantErr reports whether err is want.
func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// collect reads a sequence to its end.
func collect[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	all, err := drain(seq)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func drain[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Verify reads the whole chain back and compares it byte for byte and hash by hash.
func (c *Chain) Verify(t testing.TB, j journal.Journal) {
	t.Helper()
	c.verify(t, j, 0)
}

// verify compares the stored entries after an entry.
func (c *Chain) verify(t testing.TB, j journal.Journal, after uint64) {
	t.Helper()
	got, err := drain(j.Read(context.WithoutCancel(t.Context()), c.Session, after))
	if err != nil {
		t.Fatalf("read %s: %v", c.Session, err)
	}
	want := c.Entries[after:]
	if len(got) != len(want) {
		t.Fatalf("session %s: %d entries after %d, want %d", c.Session, len(got), after, len(want))
	}
	var prev journal.Link
	if after > 0 {
		prev = c.Entries[after-1].Link()
	}
	for i, e := range got {
		if !same(want[i], e) {
			t.Fatalf("session %s: entry %d came back as %d %s %.100q, want %d %s %.100q", c.Session, i, e.Seq, e.Kind, e.Body, want[i].Seq, want[i].Kind, want[i].Body)
		}
		if err := journal.Check(c.Session, prev, e); err != nil {
			t.Fatal(err)
		}
		prev = e.Link()
	}
}

// same reports whether two entries are equal in all fields.
func same(a, b journal.Entry) bool {
	return a.Seq == b.Seq && a.At == b.At && a.Prev == b.Prev && a.Hash == b.Hash && a.Kind == b.Kind && bytes.Equal(a.Body, b.Body)
}

// count returns how many entries a session has.
func count(t testing.TB, j journal.Journal, s journal.Session) int {
	t.Helper()
	return len(collect(t, j.Read(t.Context(), s, 0)))
}

// text returns n bytes that differ for each i.
func text(i, n int) string {
	return strings.Repeat(fmt.Sprintf("%08d", i), n/8+1)[:n]
}
