package postgresjournal

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// pageHeads is how many writings are looked at in one statement.
const pageHeads = 2000

// Numbers of the order are handed out before their transactions commit, so a
// lower one may become visible after a higher one. Behind the barrier there are
// no such transactions: whatever has a number by now is visible or gone.
const horizonSQL = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM written`

// lastSQL is true for a row c that is the last of its session, as of number $2.
// What a tombstone hides is not.
const lastSQL = `
NOT EXISTS (SELECT FROM facts n
    WHERE n.tenant = c.tenant AND n.session = c.session AND n.seq = c.seq + 1 AND n.id <= $2)
AND NOT EXISTS (SELECT FROM tombstones t
    WHERE t.tenant = c.tenant AND t.session = c.session AND t.seq >= c.seq AND t.id <> c.id)`

// headsSQL yields the next $3 writings after $1. Tenants are found by leaps
// through the index, because there are few beside what they wrote.
const headsSQL = `
WITH RECURSIVE tenants (tenant) AS (
    (SELECT tenant FROM facts ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT f.tenant FROM facts f WHERE f.tenant > x.tenant ORDER BY f.tenant LIMIT 1)
    FROM tenants x WHERE x.tenant IS NOT NULL
), written_facts AS MATERIALIZED (
    SELECT f.* FROM tenants x CROSS JOIN LATERAL (
        SELECT f.tenant, f.session, f.seq, f.hash, f.at, f.id FROM facts f
        WHERE f.tenant = x.tenant AND f.id > $1 AND f.id <= $2 ORDER BY f.id LIMIT $3) f
), c AS MATERIALIZED (
    SELECT * FROM written_facts
    UNION ALL
    (SELECT tenant, session, seq, hash, at, id FROM tombstones WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3)
    ORDER BY id LIMIT $3
)
SELECT c.tenant, c.session, c.seq, c.hash, c.at, c.id, ` + lastSQL + ` FROM c ORDER BY c.id`

// recentSQL yields the next $4 writings of tenant $1 before $3, as of $2.
const recentSQL = `
WITH c AS MATERIALIZED (
    (SELECT tenant, session, seq, hash, at, id FROM facts
        WHERE tenant = $1 AND id < $3 AND id <= $2 ORDER BY id DESC LIMIT $4)
    UNION ALL
    (SELECT tenant, session, seq, hash, at, id FROM tombstones
        WHERE tenant = $1 AND id < $3 AND id <= $2 ORDER BY id DESC LIMIT $4)
    ORDER BY id DESC LIMIT $4
)
SELECT c.tenant, c.session, c.seq, c.hash, c.at, c.id, ` + lastSQL + ` FROM c ORDER BY c.id DESC`

// A written is a place in the order.
type written struct {
	journal.Head
	last bool // of its session
}

func (s *shard) heads(ctx context.Context, after journal.Mark, yield func(journal.Head, error) bool) error {
	end, err := s.horizon(ctx)
	if err != nil {
		return err
	}
	for after < end {
		page, err := s.writtenPage(ctx, headsSQL, int64(after), int64(end), pageHeads)
		if err != nil {
			return err
		}
		for _, w := range page {
			if w.last && !yield(w.Head, nil) {
				return nil
			}
		}
		if len(page) < pageHeads {
			return nil
		}
		after = page[len(page)-1].Mark
	}
	return nil
}

// horizon returns the last number of the order that nothing can appear before.
// The transaction is rolled back, so that its commit waits for nobody.
func (s *shard) horizon(ctx context.Context) (end journal.Mark, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		if err = lockBarrier(ctx, tx); err == nil {
			err = tx.QueryRow(ctx, horizonSQL).Scan(&end)
		}
		if back := tx.Rollback(ctx); err == nil {
			err = back
		}
		return err
	})
	return end, err
}

// barrierTimeout bounds how long writers may be held up by one who waits for the
// barrier behind a slow one.
const barrierTimeout = "1s"

func lockBarrier(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+barrierTimeout+"'"); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE barrier IN ACCESS EXCLUSIVE MODE"); err != nil {
		return fmt.Errorf("wait for running appends: %w", err)
	}
	return nil
}

func (s *shard) recent(ctx context.Context, tenant string, yield func(journal.Head, error) bool) error {
	var end int64
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, horizonSQL).Scan(&end)
	})
	if err != nil {
		return err
	}
	for before := int64(math.MaxInt64); ; {
		page, err := s.writtenPage(ctx, recentSQL, []byte(tenant), end, before, pageHeads)
		if err != nil {
			return err
		}
		for _, w := range page {
			if w.last && !yield(w.Head, nil) {
				return nil
			}
		}
		if len(page) < pageHeads {
			return nil
		}
		before = int64(page[len(page)-1].Mark)
	}
}

func (s *shard) writtenPage(ctx context.Context, sql string, args ...any) (page []written, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (written, error) {
			var w written
			var tenant, session, hash []byte
			var seq, id int64
			err := row.Scan(&tenant, &session, &seq, &hash, &w.At, &id, &w.last)
			w.Session = journal.Session{Tenant: string(tenant), ID: floodmark.SessionID(session)}
			w.Link, w.Mark = linkOf(seq, hash), journal.Mark(id)
			return w, err
		})
		return err
	})
	return page, err
}
