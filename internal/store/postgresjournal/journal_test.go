package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func open(t testing.TB, dsn string, opts Options) *Journal {
	t.Helper()
	if opts.Schema == "" {
		opts.Schema = postgrestest.Schema(t, dsn)
	}
	j, err := Open(t.Context(), dsn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// until returns when a query is true. The server sends no notification, so it polls and sleeps in
// between.
func until(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	for !postgrestest.Query[bool](t, c, sql, args...) {
		if _, err := c.Exec(context.Background(), "SELECT pg_sleep(0.01)"); err != nil {
			t.Fatal(err)
		}
	}
}

func session(format string, args ...any) journal.Session {
	return journal.Session{Tenant: "firm.example", ID: floodmark.SessionID(fmt.Sprintf(format, args...))}
}

// record makes n entries after a link. The text identifies the writer.
func record(t testing.TB, s journal.Session, after journal.Link, n int, text string) journal.Record {
	t.Helper()
	facts := make([]floodmark.Fact, n)
	for i := range facts {
		facts[i] = floodmark.IncidentSeen{Kind: "test", Text: text}
	}
	entries, err := journal.Seal(s, after, time.Unix(1_700_000_000, int64(after.Seq)), facts)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Record{Session: s, After: after, Entries: entries}
}

func batch(records ...journal.Record) journal.Batch { return journal.Batch{Records: records} }

func appendOK(t testing.TB, j journal.Journal, records ...journal.Record) {
	t.Helper()
	if err := j.Append(t.Context(), batch(records...)); err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

// readAll reads a session and checks its chain.
func readAll(t testing.TB, j journal.Journal, s journal.Session, after journal.Link) []journal.Entry {
	t.Helper()
	var entries []journal.Entry
	for e, err := range j.Read(context.Background(), s, after.Seq) {
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.Check(s, after, e); err != nil {
			t.Fatal(err)
		}
		entries, after = append(entries, e), e.Link()
	}
	return entries
}

func TestWhatIsAppendedIsRead(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	s := journal.Session{Tenant: "t\x00\xff", ID: "odd \x00 name \xfe"}
	one := record(t, s, journal.Link{}, 1, "one")
	more := record(t, s, one.Last(), 3*pageEntries, "more")
	appendOK(t, j, one)
	appendOK(t, j, more)
	want := append(one.Entries, more.Entries...)
	if diff := cmp.Diff(want, readAll(t, j, s, journal.Link{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(more.Entries[4:], readAll(t, j, s, more.Entries[3].Link())); diff != "" {
		t.Error(diff)
	}
	if got := readAll(t, j, s, more.Last()); len(got) != 0 {
		t.Errorf("%d entries after the last", len(got))
	}
}

func TestAppendingAgainIsSilent(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	s := session("s")
	one := record(t, s, journal.Link{}, 2, "one")
	two := record(t, s, one.Last(), 1, "two")
	for range 2 {
		appendOK(t, j, one)
	}
	appendOK(t, j, two)
	appendOK(t, j, one)
	wantErr(t, j.Append(t.Context(), batch(record(t, s, journal.Link{}, 2, "other"))), journal.ErrConflict)
	wantErr(t, j.Append(t.Context(), batch(record(t, s, one.Last(), 1, "other"))), journal.ErrConflict)
	if got := readAll(t, j, s, journal.Link{}); len(got) != 3 {
		t.Errorf("%d entries", len(got))
	}
}

func TestGapIsRefused(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	s := session("s")
	one := record(t, s, journal.Link{}, 1, "one")
	two := record(t, s, one.Last(), 1, "two")
	wantErr(t, j.Append(t.Context(), batch(two)), journal.ErrConflict)
	appendOK(t, j, one)
	forged := one.Last()
	forged.Hash[0] ^= 1
	wantErr(t, j.Append(t.Context(), batch(record(t, s, forged, 1, "two"))), journal.ErrConflict)
	wantErr(t, j.Append(t.Context(), batch(record(t, s, two.Last(), 2, "three"))), journal.ErrConflict)
	appendOK(t, j, two)
}

func TestBatchIsWhole(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	a, b := session("a"), session("b")
	ra, rb := record(t, a, journal.Link{}, 1, "x"), record(t, b, journal.Link{}, 2, "x")
	appendOK(t, j, ra)
	na := record(t, a, ra.Last(), 1, "y")
	bad := record(t, b, rb.Entries[0].Link(), 1, "gap")
	wantErr(t, j.Append(t.Context(), batch(na, bad)), journal.ErrConflict)
	if n := len(readAll(t, j, a, journal.Link{})) + len(readAll(t, j, b, journal.Link{})); n != 1 {
		t.Fatalf("%d entries, want 1: half a batch was written", n)
	}
	appendOK(t, j, na, rb)
	appendOK(t, j, na, rb)
	wantErr(t, j.Append(t.Context(), batch(na, record(t, session("c"), journal.Link{}, 1, "x"))), journal.ErrConflict)
}

func TestEightNodesOpenAtOnce(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	var nodes sync.WaitGroup
	for range 8 {
		nodes.Go(func() {
			j, err := Open(t.Context(), dsn, Options{Schema: schema, Writers: 1, Readers: 1})
			if err != nil {
				t.Error(err)
				return
			}
			j.Close()
		})
	}
	nodes.Wait()
}
