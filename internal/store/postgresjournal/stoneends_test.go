package postgresjournal

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// stoneSQL sets a tombstone with the eraser's login alone, without a monitor.
const stoneSQL = `INSERT INTO tombstones (tenant, session, seq, hash, trust, secrecy, at, why, note) VALUES ($1, $2, $3, $4, 'untrusted', 'secret', 1, 'retention', 'forged')`

// The eraser's login erases whole sessions only: a tombstone before the last fact would hide what
// follows it.
func TestErasersHideNoEnd(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.eraser, Options{Schema: g.schema})
	s := journal.Session{Tenant: "a", ID: "s"}
	r := record(t, s, journal.Link{}, 4, "x")
	appendOK(t, j, r)
	c := g.as(t, g.eraser, "a")
	other := make([]byte, 32)
	tries := map[string][]any{
		"before the last fact": {[]byte("a"), []byte("s"), 2, r.Entries[1].Hash[:]},
		"behind it":            {[]byte("a"), []byte("s"), 5, other},
		"with another hash":    {[]byte("a"), []byte("s"), 4, other},
		"of nobody":            {[]byte("a"), []byte("t"), 1, other},
	}
	for name, args := range tries {
		if _, err := c.Exec(t.Context(), stoneSQL, args...); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(readAll(t, j, s, journal.Link{})); n != 4 {
		t.Fatalf("%d of 4 entries are read", n)
	}
	// Nor by an older picture of the tables, in which the last fact is not there yet.
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		tx, err := c.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
		if err != nil {
			t.Fatal(err)
		}
		var seq int64
		var hash []byte
		if err := tx.QueryRow(t.Context(), "SELECT seq, hash FROM facts WHERE session = 's' ORDER BY seq DESC LIMIT 1").Scan(&seq, &hash); err != nil {
			t.Fatal(err)
		}
		r = record(t, s, r.Last(), 1, "y")
		appendOK(t, j, r)
		if _, err := tx.Exec(t.Context(), stoneSQL, []byte("a"), []byte("s"), seq, hash); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", level, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// Nor by a list of tenants that changes within the statement.
	trick := fmt.Sprintf(`INSERT INTO tombstones (tenant, session, seq, hash, trust, secrecy, at, why, note)
		SELECT 'a', 's', f.seq, f.hash, 'untrusted', 'secret', 1, set_config('floodmark.tenants', '%s', false), 'forged' FROM facts f
		WHERE f.session = 's' AND f.seq = 2`, postgres.TenantList("b"))
	if tag, err := c.Exec(t.Context(), trick); !postgres.IsDenied(err) {
		t.Errorf("with another list of tenants: %v, %v", tag, err)
	}
	if n := len(readAll(t, j, s, journal.Link{})); n != 6 {
		t.Errorf("%d of 6 entries are read", n)
	}
}

// A tombstone that is set anew does not hide what was written behind it; the real
// one is set all the same, and again.
func TestErasersHideNothingBehindATombstone(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.eraser, Options{Schema: g.schema})
	s := journal.Session{Tenant: "a", ID: "s"}
	r := record(t, s, journal.Link{}, 3, "x")
	appendOK(t, j, r)
	for range 2 {
		if err := j.Erase(t.Context(), stone(s, r.Last())); err != nil {
			t.Fatal(err)
		}
	}
	first := r.Last()
	r = record(t, s, first, 2, "y")
	appendOK(t, j, r)
	c := g.as(t, g.eraser, "a")
	for _, sql := range []string{
		"UPDATE tombstones SET seq = seq", "UPDATE tombstones SET seq = 4", "UPDATE tombstones SET seq = 1", "UPDATE tombstones SET hash = decode(repeat('00', 32), 'hex')",
		"UPDATE tombstones SET session = 't'",
	} {
		if tag, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("%s: %v, %v", sql, tag, err)
		}
	}
	if n := len(readAll(t, j, s, first)); n != 2 {
		t.Errorf("%d of 2 entries are read", n)
	}
	fresh := open(t, g.eraser, Options{Schema: g.schema}) // which remembers nothing
	if n := len(readAll(t, fresh, s, first)); n != 2 {
		t.Errorf("%d of 2 entries are read elsewhere", n)
	}
	if err := j.Erase(t.Context(), stone(s, r.Last())); err != nil {
		t.Errorf("it cannot be erased at its end: %v", err)
	}
}
