package postgresjournal

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
)

// A caller that goes away during its write, such as a laptop that loses its network, is not
// mistaken for a hanging server: the server is not distrusted, no connection is replaced, and the
// write completes.
func TestWhoGoesAwayLeavesTheServerInPeace(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema, Timeout: busyTimeout})
	book, store := j.Machines(), j.Bundles()
	machinestest.Enrolled(t, book, "acme", "m1")
	for table, write := range map[string]func(context.Context) error{
		"machine_reports": func(ctx context.Context) error { return book.Report(ctx, "acme", "m1", today(), []byte("r")) },
		"bundles": func(ctx context.Context) error {
			return store.Publish(ctx, bundletest.Sealed(t, bundletest.Bundle("acme", 1)))
		},
	} {
		t.Run(table, func(t *testing.T) {
			held, err := postgrestest.Connect(t, dsn).Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := held.Exec(t.Context(), "LOCK TABLE "+schema+"."+table+" IN SHARE MODE"); err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(t.Context())
			written := make(chan error, 1)
			go func() { written <- write(ctx) }()
			waitFor(t, postgrestest.Connect(t, dsn), schema, table)
			turn := j.shards[0].GivenUp()
			leave()
			if err := held.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-written; err != nil {
				t.Errorf("what was begun ended with %v", err)
			}
			if now := j.shards[0].GivenUp(); now != turn {
				t.Error("the server is distrusted")
			}
			ended, leave := context.WithCancel(t.Context())
			leave()
			if write(ended) == nil {
				t.Error("it was begun for somebody who had gone")
			}
		})
	}
	if last, err := store.Last(t.Context(), "acme"); err != nil || last != 1 {
		t.Errorf("version %d, %v", last, err)
	}
}

// waitFor waits until a statement waits for a lock on a table.
func waitFor(t *testing.T, c *pgx.Conn, schema, table string) {
	t.Helper()
	until(t, c, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = '"+schema+"."+table+"'::regclass)")
}
