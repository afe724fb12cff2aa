package postgresjournal

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/internal/machines/machinestest"
	"github.com/floodmark/floodmark/journal"
)

func TestMachines(t *testing.T) {
	machinestest.Run(t, func(t *testing.T) machines.Book { return open(t, testDSN(t), Options{Timeout: busyTimeout}).Machines() })
}

// The same suite as a monitor that has the rights it needs and no more.
func TestMachinesWithRoles(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	machinestest.Run(t, func(t *testing.T) machines.Book {
		g := newGuarded(t, newSchema(t))
		return open(t, g.writer, Options{Schema: g.schema, Timeout: busyTimeout}).Machines()
	})
}

// Nobody changes what machines sent, and nobody sees another tenant's.
func TestNobodyChangesMachines(t *testing.T) {
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
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser, "reader": g.reader, "owner": g.owner, "superuser": testDSN(t)} {
		c := g.as(t, dsn, "acme")
		for _, sql := range []string{
			"UPDATE mirror SET kind = 'x'", "DELETE FROM mirror", "TRUNCATE mirror", "UPDATE machines SET token = token", "DELETE FROM machines",
			"UPDATE machine_ends SET state = 'left'", "DELETE FROM machine_ends", "DELETE FROM machine_forks", "DELETE FROM mirror_heads", "TRUNCATE machine_ends",
		} {
			// Where nothing is refused, row security leaves nothing to change.
			if tag, err := c.Exec(t.Context(), sql); !isDenied(err) && (err != nil || tag.RowsAffected() > 0 || strings.HasPrefix(sql, "TRUNCATE")) {
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
			if n := query[int](t, c, "SELECT count(*) FROM "+table); n != 0 {
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
