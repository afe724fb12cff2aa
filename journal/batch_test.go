package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

func record(t *testing.T, s journal.Session, texts ...string) journal.Record {
	t.Helper()
	return journal.Record{Session: s, Entries: sealed(t, s, journal.Link{}, texts...)}
}

func TestBatchLimits(t *testing.T) {
	s := journal.Session{ID: "s1"}
	records := func(n int) journal.Batch {
		var b journal.Batch
		for i := range n {
			b.Records = append(b.Records, record(t, journal.Session{ID: floodmark.SessionID(fmt.Sprint(i))}, "x"))
		}
		return b
	}
	entries := func(n int) journal.Batch {
		return journal.Batch{Records: []journal.Record{record(t, s, make([]string, n)...)}}
	}
	// bytes returns a batch of n bytes, counted over all its parts.
	bytes := func(n int) journal.Batch {
		r := record(t, s, "x")
		rest := n - len(r.Entries[0].Body) - 100
		r.Snapshot = make([]byte, rest)
		return journal.Batch{Records: []journal.Record{r}, Contents: []journal.Content{{Postings: make([]byte, 100)}}}
	}
	named := func(tenant, id int) journal.Batch {
		name := journal.Session{Tenant: strings.Repeat("t", tenant), ID: floodmark.SessionID(strings.Repeat("s", id))}
		return journal.Batch{Records: []journal.Record{record(t, name, "x")}}
	}
	contents := func(n, tenant int) journal.Batch {
		b := journal.Batch{Records: []journal.Record{record(t, s, "x")}, Contents: make([]journal.Content, n)}
		b.Contents[n-1].Tenant = strings.Repeat("t", tenant)
		return b
	}
	for _, c := range []struct {
		what    string
		at, one journal.Batch
	}{
		{"records", records(journal.MaxRecords), records(journal.MaxRecords + 1)},
		{"entries", entries(journal.MaxEntries), entries(journal.MaxEntries + 1)},
		{"bytes", bytes(journal.MaxBatchBytes), bytes(journal.MaxBatchBytes + 1)},
		{"a session's name", named(0, journal.MaxSessionBytes), named(0, journal.MaxSessionBytes+1)},
		{"a tenant's name", named(journal.MaxTenantBytes, 1), named(journal.MaxTenantBytes+1, 1)},
		{"contents", contents(journal.MaxEntries, 0), contents(journal.MaxEntries+1, 0)},
		{"a content's tenant", contents(1, journal.MaxTenantBytes), contents(1, journal.MaxTenantBytes+1)},
		{"a name at least", named(0, 1), named(0, 0)},
	} {
		if err := c.at.Check(); err != nil {
			t.Errorf("%s at the limit: %v", c.what, err)
		}
		if err := c.one.Check(); !errors.Is(err, journal.ErrTooLarge) {
			t.Errorf("%s one beyond: %v", c.what, err)
		}
	}
}

func TestBatchRefuses(t *testing.T) {
	s := journal.Session{ID: "s1"}
	good := record(t, s, "one", "two", "three")
	change := func(f func(r *journal.Record)) journal.Batch {
		r := good
		r.Entries = append([]journal.Entry(nil), good.Entries...)
		f(&r)
		return journal.Batch{Records: []journal.Record{r}}
	}
	if err := change(func(*journal.Record) {}).Check(); err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string]journal.Batch{
		"nothing":         {},
		"only contents":   {Contents: []journal.Content{{Postings: []byte("x")}}},
		"no entries":      change(func(r *journal.Record) { r.Entries = nil }),
		"a gap":           change(func(r *journal.Record) { r.Entries = append(r.Entries[:1], r.Entries[2]) }),
		"a twin":          change(func(r *journal.Record) { r.Entries[1] = r.Entries[0] }),
		"another order":   change(func(r *journal.Record) { r.Entries[0], r.Entries[1] = r.Entries[1], r.Entries[0] }),
		"another before":  change(func(r *journal.Record) { r.After = journal.Link{Seq: 1, Hash: journal.Hash{1}} }),
		"another session": change(func(r *journal.Record) { r.Session.ID = "s2" }),
		"another tenant":  change(func(r *journal.Record) { r.Session.Tenant = "t" }),
		"a broken link":   change(func(r *journal.Record) { r.Entries[2].Prev[0] ^= 1 }),
		"one twice":       {Records: []journal.Record{good, record(t, s, "other")}},
	} {
		if err := b.Check(); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
