package fleetbooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

// A Node is a node that serves this journal.
type Node struct {
	ID string
	// Ago is the time since its last announcement, by the database's clock.
	Ago time.Duration
	// Says is its own description. The journal does not read it.
	Says []byte
}

const (
	// maxNodes bounds the list: more than any fleet has.
	maxNodes = 1000
	// announceSQL also deletes nodes that were not renewed for an hour.
	announceSQL = `WITH gone AS (DELETE FROM nodes WHERE at < now() - interval '1 hour' AND id <> $1)
INSERT INTO nodes (id, says) VALUES ($1, $2)
ON CONFLICT (id) DO UPDATE SET at = now(), says = excluded.says`
	nodesSQL    = `SELECT id, extract(epoch FROM now() - at)::float8, says FROM nodes ORDER BY at DESC LIMIT $1`
	withdrawSQL = `DELETE FROM nodes WHERE id = $1`
)

// Announce stores a node's description, replacing the last one, and returns all nodes, the most
// recent first. They are in the first database.
func (b *Books) Announce(ctx context.Context, id string, says []byte) (list []Node, err error) {
	err = b.toNodes(ctx, func(ctx context.Context, c *pgx.Conn) error {
		if _, err := c.Exec(ctx, announceSQL, id, postgres.NotNull(says)); err != nil {
			return err
		}
		rows, err := c.Query(ctx, nodesSQL, maxNodes)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n Node, err error) {
			var ago float64
			err = row.Scan(&n.ID, &ago, &n.Says)
			n.Ago = time.Duration(max(0, ago) * float64(time.Second))
			return n, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tell other nodes what this one runs by: %w", err)
	}
	return list, nil
}

// Withdraw removes a node's description, when it stops.
func (b *Books) Withdraw(ctx context.Context, id string) error {
	err := b.toNodes(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, withdrawSQL, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("tell other nodes that this one ends: %w", err)
	}
	return nil
}

func (b *Books) toNodes(ctx context.Context, f func(context.Context, *pgx.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := b.databases[0]
	ctx, cancel := s.Begun(ctx)
	defer cancel()
	return s.Write(ctx, func(c *pgx.Conn) error { return f(ctx, c) })
}
