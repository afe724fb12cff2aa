package postgresjournal

import (
	"fmt"
	"testing"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// forge adds entries to a copy with the writer's login alone, without a monitor.
func forge(kind string, machine string, seqs ...int) string {
	rows := ""
	for i, n := range seqs {
		if i > 0 {
			rows += ", "
		}
		rows += fmt.Sprintf("('acme', '%s', 's', %d, 1, decode(repeat('0a', 32), 'hex'), '%s', 'x')", machine, n, kind)
	}
	return "INSERT INTO mirror (tenant, machine, session, seq, at, hash, kind, body) VALUES " + rows
}

// The head of a laptop's copy follows its entries. The writer's login cannot move it elsewhere, add
// to what was erased, add ahead of the laptop, or add to a machine that has ended.
func TestHeadsFollowTheirEntries(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	b := open(t, g.writer, Options{Schema: g.schema}).Machines()
	machinestest.Enrolled(t, b, "acme", "m1")
	machinestest.Enrolled(t, b, "acme", "gone")
	all := machinestest.Entries(t, "s", journal.Link{}, 8, "x")
	add := func(id machines.ID, from, to int) {
		t.Helper()
		outcome, head, err := b.Add(t.Context(), "acme", id, machinestest.Part("s", all, from, to), all[0].Time())
		if err != nil || outcome != machines.Kept || head != all[to-1].Link() {
			t.Fatalf("%s at %d: %v", outcome, head.Seq, err)
		}
	}
	add("m1", 0, 2)
	add("m1", 2, 3)
	add("gone", 0, 2)
	if err := b.End(t.Context(), "acme", "gone", machines.Revoked, "bea", all[0].Time()); err != nil {
		t.Fatal(err)
	}
	const zero = "decode(repeat('00', 32), 'hex')"
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser} {
		for _, sql := range []string{
			"UPDATE mirror_heads SET seq = 1", "UPDATE mirror_heads SET seq = 9", "UPDATE mirror_heads SET hash = " + zero, "UPDATE mirror_heads SET session = 't'",
			"UPDATE mirror_heads SET machine = 'gone' WHERE machine = 'm1'",
			"INSERT INTO mirror_heads VALUES ('acme', 'm1', 't', 1, " + zero + ", 1)",
			"INSERT INTO mirror_heads VALUES ('acme', 'm1', 's', 9, " + zero + ", 1) ON CONFLICT (tenant, machine, session) DO UPDATE SET seq = excluded.seq",
			forge("x", "m1", 5), forge("x", "m1", 4, 6), forge("tombstone", "m1", 5, 6), forge("x", "gone", 3), forge("x", "nobody", 1),
		} {
			if tag, err := g.as(t, dsn, "acme").Exec(t.Context(), sql); !postgres.IsDenied(err) {
				t.Errorf("%s: %s: %v, %v", who, sql, tag, err)
			}
		}
		// Setting the same value changes nothing.
		if _, err := g.as(t, dsn, "acme").Exec(t.Context(), "UPDATE mirror_heads SET entries = 99"); err != nil {
			t.Error(err)
		}
	}
	list, err := machinestest.All(t.Context(), b, "acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if want := map[machines.ID]int64{"m1": 3, "gone": 2}[m.ID]; m.Entries != want || m.Sessions != 1 {
			t.Errorf("%+v", m)
		}
	}
	add("m1", 3, 8)
	if outcome, _, err := b.Add(t.Context(), "acme", "gone", machinestest.Part("s", all, 2, 3), all[0].Time()); err == nil {
		t.Errorf("added to a machine that has ended: %s", outcome)
	}
}

// An erased gap in a copy stays a gap.
func TestNothingIsPutWhereSomethingWasErased(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	b := open(t, g.writer, Options{Schema: g.schema}).Machines()
	machinestest.Enrolled(t, b, "acme", "m1")
	c := g.as(t, g.writer, "acme")
	if _, err := c.Exec(t.Context(), forge("tombstone", "m1", 5)); err != nil { // as an upload that begins behind an erased part
		t.Fatal(err)
	}
	for _, sql := range []string{forge("x", "m1", 1), forge("x", "m1", 1, 2, 3, 4), forge("tombstone", "m1", 4)} {
		if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
