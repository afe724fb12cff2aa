package postgresjournal

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// Shards move to a new database as in docs/reference/fleet-database.md: copied, compared by the
// heads of their chains, switched.
func TestMovingShards(t *testing.T) {
	ranges := testRanges(t, 2)
	j := openShards(t, []Range{{ranges[0].DSN, 0, 4095}}, Options{})
	want := map[journal.Session]journal.Link{}
	for i := range 40 {
		s := session("s%d", i)
		r := record(t, s, journal.Link{}, 3, "x")
		r.Snapshot = []byte("state")
		all := batch(r)
		all.Contents = []journal.Content{{Tenant: s.Tenant, Digest: floodmark.DigestOf(string(s.ID)), Postings: []byte(s.ID)}}
		all.Artifacts = []journal.Artifact{{Tenant: s.Tenant, Key: floodmark.DigestOf("k"), Session: s.ID, Seq: 3, Body: []byte(s.ID)}}
		if err := j.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		want[s] = r.Last()
	}
	gone := session("s0")
	if err := j.Erase(t.Context(), stone(gone, want[gone])); err != nil {
		t.Fatal(err)
	}
	j.Close()
	moveUpperHalf(t, ranges, want)
	moved := openShards(t, ranges, Options{})
	seen := map[journal.Session]journal.Link{}
	for h, err := range moved.Recent(t.Context(), "firm.example") {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := seen[h.Session]; twice {
			t.Errorf("%s is listed twice", h.Session)
		}
		seen[h.Session] = h.Link
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	report, err := journal.Verify(t.Context(), moved, journal.Evidence{}, nil)
	if err != nil || report.Sessions != 40 || report.Entries != 39*3 {
		t.Errorf("%+v, %v", report, err)
	}
	for s, last := range want {
		appendOK(t, moved, record(t, s, last, 1, "and on"))
		found, err := moved.Postings(t.Context(), s.Tenant, []floodmark.Digest{floodmark.DigestOf(string(s.ID))})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", s, found, err)
		}
	}
	if left, err := moved.Artifacts(t.Context(), "firm.example", []floodmark.Digest{floodmark.DigestOf("k")}); err != nil || len(left) != 40 {
		t.Errorf("%d words, %v", len(left), err)
	}
}

// moveUpperHalf moves half of the shards from a database that holds all.
func moveUpperHalf(t *testing.T, ranges []Range, want map[journal.Session]journal.Link) {
	t.Helper()
	from, to := postgrestest.Connect(t, ranges[0].DSN), postgrestest.Connect(t, ranges[1].DSN)
	for s := range want {
		if n := postgrestest.Query[int](t, from, "SELECT floodmark.shard_of($1, $2)", []byte(s.Tenant), []byte(s.ID)); n != ShardOf(s) {
			t.Fatalf("%s is in shard %d in SQL and in %d in Go", s, n, ShardOf(s))
		}
	}
	if err := Init(t.Context(), []Range{{ranges[1].DSN, 0, 4095}}, Options{}, false); err != nil { // the tables; where it belongs is said below
		t.Fatal(err)
	}
	for table, which := range map[string]string{
		"facts": "shard_of(tenant, session) >= 2048", "snapshots": "shard_of(tenant, session) >= 2048", "tombstones": "shard_of(tenant, session) >= 2048",
		"artifacts": "shard_of(tenant, session) >= 2048", "contents": "true",
	} {
		var data bytes.Buffer
		for _, c := range []*pgx.Conn{from, to} {
			if _, err := c.Exec(t.Context(), "SET search_path = floodmark"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := from.PgConn().CopyTo(t.Context(), &data, "COPY (SELECT * FROM "+table+" WHERE "+which+") TO STDOUT"); err != nil {
			t.Fatal(err)
		}
		if _, err := to.PgConn().CopyFrom(t.Context(), &data, "COPY "+table+" FROM STDIN"); err != nil {
			t.Fatal(err)
		}
	}
	for c, sql := range map[*pgx.Conn]string{
		from: "UPDATE placement SET last = 2047", to: "UPDATE placement SET first = 2048, fleet = '" + postgrestest.Query[string](t, from, "SELECT fleet FROM placement") + "'",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}
