package postgresjournal

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// pageHeads is how many writings are looked at in one statement.
const pageHeads = 2000

// nowSQL is the number the order has reached, as migration 3 counts it.
const nowSQL = `greatest((SELECT last_value FROM written), ((date_part('epoch', clock_timestamp()) * 1000000)::bigint - 1577836800000000) * 4096 + 4095)`

// Numbers of the order are handed out before their transactions commit, so a
// lower one may become visible after a higher one. Behind the barrier there are
// no such transactions: whatever has a number by now is visible or gone, and
// nothing gets one below the sequence any more. That a failover loses where the
// sequence is does no harm, unless the new server's clock is behind by more than
// the failover took.
const horizonSQL = `SELECT reach($1::bigint)`

// newestSQL is a number behind which nothing of a tenant is yet.
const newestSQL = `SELECT greatest(` + nowSQL + `,
    (SELECT f.id FROM facts f WHERE f.tenant = $1 ORDER BY f.id DESC LIMIT 1),
    (SELECT t.id FROM tombstones t WHERE t.tenant = $1 ORDER BY t.id DESC LIMIT 1))`

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

// heads yields what was written behind after, up to end, which is a horizon.
func (s *shard) heads(ctx context.Context, after, end journal.Mark) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for after < end {
			page, err := s.writtenPage(ctx, allTenants, headsSQL, int64(after), int64(end), pageHeads)
			if err != nil {
				yield(journal.Head{}, fmt.Errorf("read heads: %w", err))
				return
			}
			for _, w := range page {
				if w.last && s.holds(w.Session) && !yield(w.Head, nil) {
					return
				}
			}
			if len(page) < pageHeads {
				return
			}
			after = page[len(page)-1].Mark
		}
	}
}

// now returns the number the order has reached.
func (s *shard) now(ctx context.Context) (now journal.Mark, err error) {
	err = s.read(ctx, noTenants, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, "SELECT "+nowSQL).Scan(&now)
	})
	return now, err
}

// horizon returns the last number of the order that nothing can appear before,
// at least the given one. The transaction is rolled back, so that its commit
// waits for nobody; the sequence stays where it was set.
func (s *shard) horizon(ctx context.Context, least journal.Mark) (end journal.Mark, err error) {
	err = s.read(ctx, noTenants, func(ctx context.Context, c *pgxpool.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		if err = lockBarrier(ctx, tx); err == nil {
			err = tx.QueryRow(ctx, horizonSQL, int64(least)).Scan(&end)
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

func (s *shard) recent(ctx context.Context, tenant string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		var end int64
		err := s.read(ctx, tenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			return c.QueryRow(ctx, newestSQL, []byte(tenant)).Scan(&end)
		})
		for before := int64(math.MaxInt64); err == nil; {
			var page []written
			if page, err = s.writtenPage(ctx, tenantList(tenant), recentSQL, []byte(tenant), end, before, pageHeads); err != nil {
				break
			}
			for _, w := range page {
				if w.last && s.holds(w.Session) && !yield(w.Head, nil) {
					return
				}
			}
			if len(page) < pageHeads {
				return
			}
			before = int64(page[len(page)-1].Mark)
		}
		yield(journal.Head{}, fmt.Errorf("read recent sessions: %w", err))
	}
}

func (s *shard) writtenPage(ctx context.Context, tenants, sql string, args ...any) (page []written, err error) {
	err = s.read(ctx, tenants, func(ctx context.Context, c *pgxpool.Conn) error {
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
