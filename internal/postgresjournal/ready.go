package postgresjournal

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/journal"
)

// Ready returns nil if an append would be durable now, whatever its session: in every
// database a primary takes writes, and its commits do not hang in their wait for a replica. It writes a few bytes of the
// server's log and nothing else.
func (j *Journal) Ready(ctx context.Context) error {
	if j.closed.Load() {
		return journal.ErrClosed
	}
	if err := j.each(func(_ int, s *shard) error { return s.settled(ctx) }); err != nil {
		return fmt.Errorf("ask whether the journal takes writes: %w", err)
	}
	return nil
}

// settled commits nothing, as durably as an append.
func (s *shard) settled(ctx context.Context) error {
	return s.write(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, settledSQL)
		return err
	})
}
