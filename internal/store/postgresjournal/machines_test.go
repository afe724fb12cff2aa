package postgresjournal

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func TestMachines(t *testing.T) {
	machinestest.Run(t, func(t *testing.T) machines.Book {
		return open(t, postgrestest.DSN(t), Options{Timeout: busyTimeout}).Machines()
	})
}

// The same suite for a monitor with the least rights it needs.
func TestMachinesWithRoles(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	machinestest.Run(t, func(t *testing.T) machines.Book {
		g := newGuarded(t, newSchema(t))
		return open(t, g.eraser, Options{Schema: g.schema, Timeout: busyTimeout}).Machines()
	})
}

// Ended copies are deleted by the eraser's login, and by no other login or SQL.
func TestCopiesGoByTheEraserAlone(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	w := open(t, g.writer, Options{Schema: g.schema, Timeout: busyTimeout}).Machines()
	machinestest.Enrolled(t, w, "acme", "m1")
	all := machinestest.Entries(t, "s", journal.Link{}, 3, "x")
	if _, _, err := w.Add(t.Context(), "acme", "m1", machinestest.Part("s", all, 0, 3), all[0].Time()); err != nil {
		t.Fatal(err)
	}
	stone := journal.Tombstone{Link: all[2].Link(), At: 1, Note: []byte("signed")}
	if done, err := w.Bury(t.Context(), "acme", "m1", "s", stone); done || !errors.Is(err, machines.ErrMayNotErase) {
		t.Errorf("the writer erases: %v, %v", done, err)
	}
	const row = `(tenant, machine, session, seq, hash, at, note) VALUES ('acme', 'm1', 's', 3, decode(repeat('00', 32), 'hex'), 1, 'x')`
	for _, dsn := range []string{g.writer, g.reader, g.eraser} {
		for _, tenant := range []string{"acme", "beta"} {
			c := g.as(t, dsn, tenant)
			for _, sql := range []string{
				"INSERT INTO mirror_stones " + row, "UPDATE mirror_stones SET seq = 9", "DELETE FROM mirror", "DELETE FROM mirror_stones", "TRUNCATE mirror_stones",
				`SELECT bury_copy('acme', 'm1', 's', 2, (SELECT hash FROM mirror WHERE seq = 2), 1, 'x')`, "UPDATE mirror_heads SET moved = '2000-01-01'",
			} {
				_, _ = c.Exec(t.Context(), sql) // what became of it is looked at
			}
			if n := copyLength(t, w); n != 3 {
				t.Fatalf("%s for %s: %d entries are left", dsn, tenant, n)
			}
			if old, err := w.Old(t.Context(), postgrestest.Query[time.Time](t, c, "SELECT now() - interval '1 hour'"), 9); err != nil || len(old) > 0 {
				t.Fatalf("%s for %s made it old: %v, %v", dsn, tenant, old, err)
			}
		}
	}
	var done bool
	for _, tenant := range []string{"beta", "acme"} {
		c := g.as(t, g.eraser, tenant)
		if err := c.QueryRow(t.Context(), "SELECT bury_copy('acme', 'm1', 's', 3, $1, 1, 'x')", all[2].Hash[:]).Scan(&done); err != nil || done != (tenant == "acme") {
			t.Errorf("the eraser for %s: %v, %v", tenant, done, err)
		}
	}
	if n := copyLength(t, w); n != 1 {
		t.Errorf("%d entries are left by the eraser", n)
	}
	for _, sql := range []string{"UPDATE mirror_stones SET seq = 9", "DELETE FROM mirror_stones"} {
		if tag, err := g.as(t, g.eraser, "acme").Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("the eraser: %s: %v, %v", sql, tag, err)
		}
	}
}

// copyLength is how many entries of the session s of m1 are read.
func copyLength(t *testing.T, b machines.Book) (n int) {
	t.Helper()
	for _, err := range b.Read(t.Context(), "acme", "m1", "s") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// Machines' entries cannot be changed, and tenants do not see each other's.
func TestMachinesCannotBeChanged(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	b := open(t, g.writer, Options{Schema: g.schema}).Machines()
	machinestest.Enrolled(t, b, "acme", "m1")
	all := machinestest.Entries(t, "s", journal.Link{}, 3, "x")
	if _, _, err := b.Add(t.Context(), "acme", "m1", machinestest.Part("s", all, 0, 3), all[0].Time()); err != nil {
		t.Fatal(err)
	}
	fork := machinestest.Entries(t, "s", journal.Link{}, 1, "y")
	if outcome, _, err := b.Add(t.Context(), "acme", "m1", machinestest.Part("s", fork, 0, 1), all[0].Time()); outcome != machines.Fork || err != nil {
		t.Fatal(outcome, err)
	}
	if err := b.End(t.Context(), "acme", "m1", machines.Revoked, "bea", all[0].Time()); err != nil {
		t.Fatal(err)
	}
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser, "reader": g.reader, "owner": g.owner, "superuser": postgrestest.DSN(t)} {
		c := g.as(t, dsn, "acme")
		for _, sql := range []string{
			"UPDATE mirror SET kind = 'x'", "DELETE FROM mirror", "TRUNCATE mirror", "UPDATE machines SET token = token", "DELETE FROM machines",
			"UPDATE machine_ends SET state = 'left'", "DELETE FROM machine_ends", "DELETE FROM machine_forks", "DELETE FROM mirror_heads", "TRUNCATE machine_ends",
		} {
			// A statement that is not refused changes nothing because of row security.
			if tag, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) && (err != nil || tag.RowsAffected() > 0 || strings.HasPrefix(sql, "TRUNCATE")) {
				t.Errorf("%s: %s: %v, %v", who, sql, tag, err)
			}
		}
	}
	for who, dsn := range map[string]string{"writer": g.writer, "reader": g.reader, "owner": g.owner} {
		c := g.as(t, dsn, "beta")
		for _, table := range []string{"machines", "machine_ends", "machine_forks", "mirror", "mirror_heads", "machine_reports"} {
			if who == "reader" && table == "machines" {
				continue // it holds hashes of tokens: a reader has no business there
			}
			if n := postgrestest.Query[int](t, c, "SELECT count(*) FROM "+table); n != 0 {
				t.Errorf("%s sees %d rows of another tenant in %s", who, n, table)
			}
		}
		if who == "writer" {
			_, err := c.Exec(t.Context(), "INSERT INTO machine_ends (tenant, id, state, ended_by, at) VALUES ('acme', 'm2', 'revoked', 'mallory', 1)")
			if err == nil || !strings.Contains(err.Error(), "row-level security") {
				t.Errorf("beta writes for acme: %v", err)
			}
		}
	}
}
