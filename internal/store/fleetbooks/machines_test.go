package fleetbooks

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A laptop may send large entries: one read of its copy is bounded by bytes, and all of it is read
// nevertheless.
func TestLargeCopiesAreReadInParts(t *testing.T) {
	dsn := postgrestest.DSN(t)
	d, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: postgrestest.Schema(t, dsn), Writers: 1, Readers: 1, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	books := New([]*postgres.Database{d}, func(journal.Session) *postgres.Database { return d }, func() bool { return false })
	b := machineBook{books}
	machinestest.Enrolled(t, b, "acme", "m1")
	all := machinestest.Entries(t, "s", journal.Link{}, 5, strings.Repeat("x", pageBytes/4))
	for i := range all {
		if got, _, err := b.Add(t.Context(), "acme", "m1", machinestest.Part("s", all, i, i+1), all[0].Time()); got != machines.Kept || err != nil {
			t.Fatal(got, err)
		}
	}
	page, more, err := b.page(t.Context(), "acme", "m1", "s", 0)
	if err != nil || !more || len(page) != 4 {
		t.Errorf("%d entries at once, more: %v, %v", len(page), more, err)
	}
	n := 0
	for e, err := range b.Read(t.Context(), "acme", "m1", "s") {
		if err != nil || e.Hash != all[n].Hash || len(e.Body) != len(all[n].Body) {
			t.Fatal(n, err)
		}
		n++
	}
	if n != len(all) {
		t.Errorf("%d entries of %d", n, len(all))
	}
}
