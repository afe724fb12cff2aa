package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func stone(s journal.Session, l journal.Link) journal.Tombstone {
	return journal.Tombstone{
		Session: s, Link: l, At: 42, Why: "owner", Note: []byte("signed"),
		Mark: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private},
	}
}

func wantBegin(t testing.TB, j journal.Journal, s journal.Session, want journal.Start) {
	t.Helper()
	got, err := j.Begin(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshotsAndContents(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	s := session("s")
	wantBegin(t, j, s, journal.Start{})
	one := record(t, s, journal.Link{}, 2, "one")
	one.Snapshot = []byte("after one")
	digest, other := floodmark.DigestOf("content"), floodmark.DigestOf("other")
	b := batch(one)
	b.Contents = []journal.Content{{Tenant: s.Tenant, Digest: digest, Postings: []byte("index")}}
	for range 2 {
		if err := j.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	wantBegin(t, j, s, journal.Start{Link: one.Last(), Snapshot: []byte("after one")})

	// A refused record leaves nothing behind.
	bad := record(t, s, journal.Link{}, 1, "bad")
	bad.Snapshot = []byte("bad")
	refused := batch(bad)
	refused.Contents = []journal.Content{{Tenant: s.Tenant, Digest: other, Postings: []byte("bad")}}
	wantErr(t, j.Append(t.Context(), refused), journal.ErrConflict)

	two := record(t, s, one.Last(), 1, "two")
	again := batch(two)
	again.Contents = []journal.Content{{Tenant: s.Tenant, Digest: digest, Postings: []byte("changed")}}
	if err := j.Append(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	wantBegin(t, j, s, journal.Start{Link: one.Last(), Snapshot: []byte("after one")})
	for tenant, want := range map[string]map[floodmark.Digest][]byte{s.Tenant: {digest: []byte("index")}, "": {}} {
		got, err := j.Postings(t.Context(), tenant, []floodmark.Digest{other, digest, digest})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestErase(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	s := session("s")
	one := record(t, s, journal.Link{}, 3, "one")
	one.Snapshot = []byte("after one")
	appendOK(t, j, one)
	wantErr(t, j.Erase(t.Context(), stone(s, one.Entries[1].Link())), journal.ErrConflict)
	wantErr(t, j.Erase(t.Context(), stone(session("none"), one.Last())), journal.ErrConflict)
	tomb := stone(s, one.Last())
	for range 2 {
		if err := j.Erase(t.Context(), tomb); err != nil {
			t.Fatal(err)
		}
	}
	wantBegin(t, j, s, journal.Start{Link: one.Last(), Tombstone: &tomb})
	if n := postgrestest.Query[int](t, postgrestest.Connect(t, dsn), "SELECT (SELECT count(*) FROM "+schema+".facts)::int + (SELECT count(*) FROM "+schema+".snapshots)::int"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	wantNames(t, collect(t, j.Heads(t.Context(), 0)), "firm.example/s 3")
	wantNames(t, collect(t, j.Recent(t.Context(), s.Tenant)), "firm.example/s 3")
	// It cannot begin again, be rewritten, or continue elsewhere.
	wantErr(t, j.Append(t.Context(), batch(one)), journal.ErrConflict)
	wantErr(t, j.Append(t.Context(), batch(record(t, s, journal.Link{}, 1, "anew"))), journal.ErrConflict)
	wantErr(t, j.Append(t.Context(), batch(record(t, s, one.Entries[1].Link(), 1, "inside"))), journal.ErrConflict)
	two := record(t, s, one.Last(), 2, "two")
	two.Snapshot = []byte("after two")
	appendOK(t, j, two)
	wantBegin(t, j, s, journal.Start{Link: two.Last(), Snapshot: []byte("after two"), Tombstone: &tomb})
	if diff := cmp.Diff(two.Entries, readAll(t, j, s, one.Last())); diff != "" {
		t.Error(diff)
	}
	for e, err := range j.Read(t.Context(), s, 0) {
		if err != nil || e.Seq != 4 {
			t.Errorf("reading begins with %d, %v", e.Seq, err)
		}
		break
	}
	wantErr(t, j.Erase(t.Context(), tomb), journal.ErrConflict)
}

// A node that dies between setting a tombstone and deleting leaves facts that are hidden, and that
// the next node deletes.
func TestHalfErasedIsErased(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	s := session("s")
	one := record(t, s, journal.Link{}, 3, "one")
	one.Snapshot = []byte("after one")
	appendOK(t, j, one)
	c := postgrestest.Connect(t, dsn)
	if _, err := c.Exec(t.Context(), "INSERT INTO "+schema+".tombstones VALUES ($1, $2, 3, $3, 'external', 'private', 42, 'owner', 'signed', nextval('"+schema+".written'))",
		[]byte(s.Tenant), []byte(s.ID), one.Entries[2].Hash[:]); err != nil {
		t.Fatal(err)
	}
	tomb := stone(s, one.Last())
	check := func(want int) {
		t.Helper()
		wantBegin(t, j, s, journal.Start{Link: one.Last(), Tombstone: &tomb})
		if n := len(readAll(t, j, s, one.Last())); n != 0 {
			t.Errorf("%d entries are seen", n)
		}
		wantErr(t, j.Append(t.Context(), batch(one)), journal.ErrConflict)
		wantErr(t, j.Append(t.Context(), batch(record(t, s, one.Entries[1].Link(), 1, "x"))), journal.ErrConflict)
		wantNames(t, collect(t, j.Heads(t.Context(), 0)), "firm.example/s 3")
		if n := postgrestest.Query[int](t, c, "SELECT count(*)::int FROM "+schema+".facts"); n != want {
			t.Errorf("%d facts are left, want %d", n, want)
		}
	}
	check(3)
	open(t, dsn, Options{Schema: schema})
	check(0)
}

// Concurrent appends and erasures of a session leave one chain.
func TestEraseBesideAppends(t *testing.T) {
	all := nodes(t, 3, Options{})
	s := session("s")
	var mu sync.Mutex
	erased, appended := 0, 0
	var workers sync.WaitGroup
	for i, j := range all {
		workers.Go(func() {
			for round := range 500 {
				mu.Lock()
				enough := round >= 25 && (erased > 0 || i > 0) // on a busy machine the others always come first
				mu.Unlock()
				if enough {
					return
				}
				start, last := follow(t, j, s)
				if i == 0 && last.Seq > start.Link.Seq {
					err := j.Erase(context.Background(), stone(s, last))
					mu.Lock()
					if err == nil {
						erased++
					} else if !errors.Is(err, journal.ErrConflict) {
						t.Error(err)
					}
					mu.Unlock()
					continue
				}
				r := record(t, s, last, 1+i, fmt.Sprint(i, round))
				err := j.Append(context.Background(), batch(r))
				mu.Lock()
				if err == nil {
					appended += len(r.Entries)
				} else if !errors.Is(err, journal.ErrConflict) {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if _, last := follow(t, all[0], s); last.Seq != uint64(appended) || erased == 0 {
		t.Errorf("the chain ends at %d after %d appended and %d erasures", last.Seq, appended, erased)
	}
}

// follow reads a session to its end and checks it; an erasure meanwhile is fine.
func follow(t *testing.T, j *Journal, s journal.Session) (journal.Start, journal.Link) {
	for {
		start, err := j.Begin(context.Background(), s)
		if err != nil {
			t.Error(err)
			return start, start.Link
		}
		last, again := start.Link, false
		for e, err := range j.Read(context.Background(), s, start.Link.Seq) {
			if err == nil {
				err = journal.Check(s, last, e)
			}
			if err != nil {
				again = true // erased after Begin
				break
			}
			last = e.Link()
		}
		if !again {
			return start, last
		}
	}
}

func TestGapInTheTableIsBroken(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema})
	s := session("s")
	one := record(t, s, journal.Link{}, 5, "one")
	appendOK(t, j, one)
	if _, err := postgrestest.Connect(t, dsn).Exec(t.Context(), "SET session_replication_role = replica; DELETE FROM "+schema+".facts WHERE seq = 3", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	for after := range uint64(4) {
		var last error
		for _, err := range j.Read(t.Context(), s, after) {
			last = err
		}
		wantErr(t, last, journal.ErrBroken)
	}
}

func TestNewerTablesAreRefused(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	open(t, dsn, Options{Schema: schema}).Close()
	if _, err := postgrestest.Connect(t, dsn).Exec(t.Context(), "INSERT INTO "+schema+".migrations VALUES (9999, 'from the future')"); err != nil {
		t.Fatal(err)
	}
	if j, err := Open(t.Context(), dsn, Options{Schema: schema}); err == nil {
		j.Close()
		t.Error("opened")
	}
}
