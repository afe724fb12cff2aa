package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
)

// After this node has met a promoted server, connections to its predecessor are not used: their
// answers about other sessions may be stale, and nothing would notice.
func TestReplacedServersAreNotRead(t *testing.T) {
	dsn := postgrestest.DSN(t)
	d := open(t, dsn, postgrestest.Schema(t, dsn))
	look := func() error {
		return d.Read(t.Context(), TenantList("a"), func(ctx context.Context, c *pgxpool.Conn) error {
			_, err := c.Exec(ctx, "SELECT FROM artifacts")
			return err
		})
	}
	if err := look(); err != nil {
		t.Fatal(err)
	}
	d.primary.timeline.Add(1) // as a writer does that met another server
	if err := look(); !errors.Is(err, errReplaced) {
		t.Errorf("a server that was replaced was asked: %v", err)
	}
	d.primary.timeline.Add(-1)
	if err := look(); err != nil {
		t.Errorf("the newest server: %v", err)
	}
}
