package journaltest

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

func allOrNothing(t *testing.T, j journal.Journal) {
	a, b, c := NewChain("", "a"), NewChain("", "b"), NewChain("x", "c")
	if err := j.Append(t.Context(), batch(a.Next(t, "a1"), b.Next(t, "b1", "b2"), c.Next(t, "c1"))); err != nil {
		t.Fatal(err)
	}
	stale := &Chain{Session: c.Session}
	for what, records := range map[string][]journal.Record{
		"the last is stale":   {a.Peek(t, "a2"), b.Peek(t, "b3"), stale.Peek(t, "other")},
		"the first is stale":  {stale.Peek(t, "other"), a.Peek(t, "a2"), b.Peek(t, "b3")},
		"a new one beside it": {NewChain("", "new").Peek(t, "n1"), stale.Peek(t, "other")},
	} {
		for i := range records {
			records[i].Snapshot = []byte("never")
		}
		wantErr(t, what, j.Append(t.Context(), batch(records...)), journal.ErrConflict)
	}
	for _, chain := range []*Chain{a, b, c, NewChain("", "new")} {
		chain.Verify(t, j)
		if start, err := j.Begin(t.Context(), chain.Session); err != nil || len(start.Snapshot) > 0 {
			t.Errorf("session %s: snapshot %q, %v", chain.Session, start.Snapshot, err)
		}
	}
	if err := j.Append(t.Context(), batch(b.Next(t, "b3"), NewChain("", "new").Next(t, "n1"), a.Next(t, "a2"))); err != nil {
		t.Fatal(err)
	}
	a.Verify(t, j)
	b.Verify(t, j)
}

// wantPostings compares the stored indexes of the given texts.
func wantPostings(t *testing.T, j journal.Journal, tenant string, want map[string]string, ask ...string) {
	t.Helper()
	var digests []floodmark.Digest
	for _, a := range ask {
		digests = append(digests, floodmark.DigestOf(a))
	}
	found, err := j.Postings(t.Context(), tenant, digests)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range ask {
		if p, ok := found[floodmark.DigestOf(a)]; ok {
			got[a] = string(p)
		}
	}
	if !maps.Equal(want, got) || len(found) != len(got) {
		t.Errorf("tenant %q: %d found (%.200q), want %d (%.200q)", tenant, len(found), fmt.Sprint(got), len(want), fmt.Sprint(want))
	}
}

func content(tenant, of, postings string) journal.Content {
	return journal.Content{Tenant: tenant, Digest: floodmark.DigestOf(of), Postings: []byte(postings)}
}

func contents(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	b := batch(c.Next(t, "one"))
	b.Contents = []journal.Content{content("", "x", "x1"), content("", "y", ""), content("t", "x", "of t"), content("", "x", "x twice")}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	b = batch(c.Next(t, "two"))
	b.Contents = []journal.Content{content("", "x", "x2"), content("", "z", text(1, 1<<20))}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantPostings(t, j, "", map[string]string{"x": "x1", "y": "", "z": text(1, 1<<20)}, "x", "y", "z", "unknown")
	wantPostings(t, j, "t", map[string]string{"x": "of t"}, "x", "y", "z")
	wantPostings(t, j, "other", map[string]string{}, "x", "y", "z")
	wantPostings(t, j, "", map[string]string{})
	c.Verify(t, j)

	many := batch(c.Next(t, "many"))
	want, ask := map[string]string{}, []string{}
	for i := range 3000 {
		name := fmt.Sprint("content ", i)
		many.Contents = append(many.Contents, content("", name, text(i, 9)))
		want[name] = text(i, 9)
		ask = append(ask, name)
	}
	if err := j.Append(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	wantPostings(t, j, "", want, ask...)
}

func contentsRefused(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	first := c.Next(t, "one")
	appendAll(t, j, first)
	stale := &Chain{Session: c.Session}
	b := batch(stale.Peek(t, "other"))
	b.Contents = []journal.Content{content("", "x", "never")}
	wantErr(t, "stale", j.Append(t.Context(), b), journal.ErrConflict)
	b = batch(first)
	b.Contents = []journal.Content{content("", "x", "never")}
	if err := j.Append(t.Context(), b); err != nil {
		t.Errorf("the same entries again: %v", err)
	}
	wantPostings(t, j, "", map[string]string{}, "x")
}

func limits(t *testing.T, j journal.Journal) {
	large(t)
	long := NewChain(strings.Repeat("t", journal.MaxTenantBytes), strings.Repeat("s", journal.MaxSessionBytes))
	appendAll(t, j, long.Next(t, "a long name"))
	long.Verify(t, j)
	for _, s := range []journal.Session{
		{Tenant: long.Session.Tenant + "t", ID: "s"},
		{ID: long.Session.ID + "s"},
		{ID: ""},
	} {
		c := &Chain{Session: s}
		wantErr(t, "a bad name", j.Append(t.Context(), batch(c.Peek(t, "x"))), journal.ErrTooLarge)
	}

	var records []journal.Record
	for i := range journal.MaxRecords + 1 {
		records = append(records, NewChain("", fmt.Sprint("r", i)).Next(t, "x"))
	}
	wantErr(t, "too many records", j.Append(t.Context(), batch(records...)), journal.ErrTooLarge)
	if err := j.Append(t.Context(), batch(records[:journal.MaxRecords]...)); err != nil {
		t.Errorf("%d records: %v", journal.MaxRecords, err)
	}
	if n := len(collect(t, j.Heads(t.Context(), 0))); n != journal.MaxRecords+1 {
		t.Errorf("%d heads, want %d", n, journal.MaxRecords+1)
	}

	many := NewChain("", "many")
	wantErr(t, "too many entries", j.Append(t.Context(), batch(many.Peek(t, make([]string, journal.MaxEntries+1)...))), journal.ErrTooLarge)
	appendAll(t, j, many.Next(t, make([]string, journal.MaxEntries)...))
	many.Verify(t, j)

	big := NewChain("", "big")
	r := big.Next(t, "x")
	r.Snapshot = make([]byte, journal.MaxBatchBytes-len(r.Entries[0].Body)+1)
	r.Snapshot[len(r.Snapshot)-2] = 7
	wantErr(t, "too many bytes", j.Append(t.Context(), batch(r)), journal.ErrTooLarge)
	r.Snapshot = r.Snapshot[:len(r.Snapshot)-1]
	appendAll(t, j, r)
	start, err := j.Begin(t.Context(), big.Session)
	if err != nil || string(start.Snapshot) != string(r.Snapshot) {
		t.Errorf("a snapshot of %d bytes came back with %d, %v", len(r.Snapshot), len(start.Snapshot), err)
	}
	big.Verify(t, j)
}
