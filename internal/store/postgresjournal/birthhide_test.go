package postgresjournal

import (
	"fmt"
	"testing"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// The writer's login cannot hide a session from before months existed by recording a month for it.
func TestWritersHideNothingByABirth(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.writer, Options{Schema: g.schema})
	s := journal.Session{Tenant: "a", ID: "old"}
	super := g.as(t, postgrestest.DSN(t), "a")
	r := record(t, s, journal.Link{}, 2, "x")
	for _, e := range r.Entries { // as a program wrote it that knew no months
		if _, err := super.Exec(t.Context(), "INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ('a', 'old', $1, $2, $3, $4, $5)", int64(e.Seq), e.At, e.Hash[:], e.Kind, e.Body); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{"ALTER TABLE births DISABLE TRIGGER USER", "DELETE FROM births", "ALTER TABLE births ENABLE TRIGGER USER"} {
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (n int) {
		for _, err := range j.Read(t.Context(), s, 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if n := count(); n != 2 {
		t.Fatalf("%d entries before", n)
	}
	here := j.shards[0].homes.here()
	_, err := g.as(t, g.writer, "a").Exec(t.Context(), fmt.Sprintf("INSERT INTO births (tenant, session, month) VALUES ('a', 'old', %d)", here))
	if n := count(); err == nil || postgres.OutcomeOf(err) != postgres.Contended || n != 2 {
		t.Errorf("a writer was told %v, and %d of 2 entries are seen", err, n)
	}
	if err := j.Append(t.Context(), batch(record(t, s, r.Last(), 1, "y"))); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
}
