package postgresjournal

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// pageHeads is how many rows one statement reads at most, and firstHeads how many the first reads.
const (
	pageHeads  = 2000
	firstHeads = 125
)

// nowSQL is the current number of the order, as in migration 3.
const nowSQL = `greatest((SELECT last_value FROM written), ((date_part('epoch', clock_timestamp()) * 1000000)::bigint - 1577836800000000) * 4096 + 4095)`

// Numbers of the order are handed out before their transactions commit, so a lower one may become
// visible after a higher one. Behind the barrier there are no such transactions: every number
// handed out is visible or rolled back, and new ones are above the sequence. A failover that loses
// the sequence's position does no harm, unless the new server's clock is behind by more than the
// failover took.
const horizonSQL = `SELECT reach($1::bigint)`

// newestSQL is a number after all of a tenant's rows.
const newestSQL = `SELECT greatest(` + nowSQL + `,
    (SELECT f.id FROM facts f WHERE f.tenant = $1 ORDER BY f.id DESC LIMIT 1),
    (SELECT t.id FROM tombstones t WHERE t.tenant = $1 ORDER BY t.id DESC LIMIT 1))`

// lastSQL is true for a row c of a month that is the last of its session, as of number $2, and not
// hidden by a tombstone.
const lastSQL = `
NOT EXISTS (SELECT FROM {from} n
    WHERE n.tenant = c.tenant AND n.session = c.session AND n.seq = c.seq + 1 AND n.id <= $2)
AND NOT EXISTS (SELECT FROM tombstones t
    WHERE t.tenant = c.tenant AND t.session = c.session AND t.seq >= c.seq)`

// lastStoneSQL is true for a tombstone without later entries, in any month.
const lastStoneSQL = `
NOT EXISTS (SELECT FROM facts n
    WHERE n.tenant = c.tenant AND n.session = c.session AND n.seq = c.seq + 1 AND n.id <= $2)`

// headsSQL yields the next $3 rows of a month after $1. It finds tenants by skipping through the
// index, because they are few compared with their rows.
const headsSQL = `
WITH RECURSIVE tenants (tenant) AS (
    (SELECT tenant FROM {from} ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT f.tenant FROM {from} f WHERE f.tenant > x.tenant ORDER BY f.tenant LIMIT 1)
    FROM tenants x WHERE x.tenant IS NOT NULL
), c AS MATERIALIZED (
    SELECT f.* FROM tenants x CROSS JOIN LATERAL (
        SELECT f.tenant, f.session, f.seq, f.hash, f.at, f.id FROM {from} f
        WHERE f.tenant = x.tenant AND f.id > $1 AND f.id <= $2 ORDER BY f.id LIMIT $3) f
    ORDER BY f.id LIMIT $3
)
SELECT c.tenant, c.session, c.seq, c.hash, c.at, c.id, ` + lastSQL + ` FROM c ORDER BY c.id`

// headStonesSQL is headsSQL for tombstones.
const headStonesSQL = `
WITH c AS MATERIALIZED (
    SELECT tenant, session, seq, hash, at, id FROM tombstones WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3
)
SELECT c.tenant, c.session, c.seq, c.hash, c.at, c.id, ` + lastStoneSQL + ` FROM c ORDER BY c.id`

// recentSQL yields the next $4 rows of tenant $1 in a month before $3, as of $2.
const recentSQL = `
WITH c AS MATERIALIZED (
    SELECT tenant, session, seq, hash, at, id FROM {from}
        WHERE tenant = $1 AND id < $3 AND id <= $2 ORDER BY id DESC LIMIT $4
)
SELECT c.tenant, c.session, c.seq, c.hash, c.at, c.id, ` + lastSQL + ` FROM c ORDER BY c.id DESC`

// recentStonesSQL is recentSQL for tombstones.
const recentStonesSQL = `
WITH c AS MATERIALIZED (
    SELECT tenant, session, seq, hash, at, id FROM tombstones
        WHERE tenant = $1 AND id < $3 AND id <= $2 ORDER BY id DESC LIMIT $4
)
SELECT c.tenant, c.session, c.seq, c.hash, c.at, c.id, ` + lastStoneSQL + ` FROM c ORDER BY c.id DESC`

// A written is a row in the order.
type written struct {
	journal.Head
	last bool // of its session
}

// heads returns lists of the rows after a mark, up to end, which must be a horizon. There is one
// list for each month and one for tombstones.
func (s *shard) heads(ctx context.Context, after, end journal.Mark) (lists []iter.Seq2[journal.Head, error], err error) {
	months, err := s.look(ctx) // tables that are created later have no rows up to end
	if err != nil {
		return nil, err
	}
	list := func(sql string) iter.Seq2[journal.Head, error] {
		return s.pages(ctx, "read heads", postgres.AllTenants, int64(after), func(at int64, n int) (string, []any) {
			return sql, []any{at, int64(end), n}
		})
	}
	for _, m := range append(months, 0) {
		lists = append(lists, list(s.homes.text(m).heads))
	}
	return append(lists, list(headStonesSQL)), nil
}

// pages yields the rows that are the last of their session, page by page. The first pages are
// small, because there are many lists and few readers want all of them.
func (s *shard) pages(ctx context.Context, what, tenants string, at int64, next func(at int64, n int) (string, []any)) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for n := firstHeads; ; n = min(4*n, pageHeads) {
			sql, args := next(at, n)
			page, err := s.writtenPage(ctx, tenants, sql, args...)
			if isGone(err) {
				return // the month was dropped, so all its sessions had been erased
			}
			if err != nil {
				yield(journal.Head{}, fmt.Errorf("%s: %w", what, err))
				return
			}
			for _, w := range page {
				if w.last && s.holds(w.Session) && !yield(w.Head, nil) {
					return
				}
			}
			if len(page) < n {
				return
			}
			at = int64(page[len(page)-1].Mark)
		}
	}
}

// now returns the current number of the order.
func (s *shard) now(ctx context.Context) (now journal.Mark, err error) {
	err = s.Read(ctx, postgres.NoTenants, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, "SELECT "+nowSQL).Scan(&now)
	})
	return now, err
}

// horizon returns a number of the order, at least the given one, that no later entry can be below.
// The transaction is rolled back, so that its commit does not wait for a replica; the sequence
// keeps its position.
func (s *shard) horizon(ctx context.Context, least journal.Mark) (end journal.Mark, err error) {
	err = s.Read(ctx, postgres.NoTenants, func(ctx context.Context, c *pgxpool.Conn) error {
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

// barrierTimeout bounds how long waiting for the barrier behind a slow writer may block other
// writers.
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

// recent returns lists of a tenant's sessions, as heads does, the last written first.
func (s *shard) recent(ctx context.Context, tenant string) (lists []iter.Seq2[journal.Head, error], err error) {
	var end int64
	err = s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, newestSQL, []byte(tenant)).Scan(&end)
	})
	if err != nil {
		return nil, err
	}
	months, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	list := func(sql string) iter.Seq2[journal.Head, error] {
		return s.pages(ctx, "read recent sessions", postgres.TenantList(tenant), math.MaxInt64, func(at int64, n int) (string, []any) {
			return sql, []any{[]byte(tenant), end, at, n}
		})
	}
	for _, m := range append(months, 0) {
		lists = append(lists, list(s.homes.text(m).recent))
	}
	return append(lists, list(recentStonesSQL)), nil
}

func (s *shard) writtenPage(ctx context.Context, tenants, sql string, args ...any) (page []written, err error) {
	err = s.Read(ctx, tenants, func(ctx context.Context, c *pgxpool.Conn) error {
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
			w.Link, w.Mark = postgres.LinkOf(seq, hash), journal.Mark(id)
			return w, err
		})
		return err
	})
	return page, err
}
