package postgresjournal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// maxAskedAt bounds the entries about questions read from one database at once.
const maxAskedAt = 1000

// perSecond is how far the order advances in a second, as in migration 3.
const perSecond = 1000000 * 4096

// askedAtSQL yields what tenant $1 wrote about questions between two distances before the current
// number of the order, the newest first. It reads only what was written in that time.
const askedAtSQL = `
WITH n AS MATERIALIZED (SELECT ` + nowSQL + ` AS now)
SELECT f.session, f.seq, f.hash, f.at, f.id FROM facts f
WHERE f.tenant = $1 AND f.id > (SELECT now FROM n) - $2::bigint AND f.id <= (SELECT now FROM n) - $3::bigint
AND f.kind IN ('ticket-opened', 'ticket-extended', 'ticket-answered')
AND NOT EXISTS (SELECT FROM tombstones t WHERE t.tenant = f.tenant AND t.session = f.session AND t.seq >= f.seq)
ORDER BY f.id DESC LIMIT $4`

// AskedAt returns the entries by which questions of a tenant were asked, changed or answered at any
// node, between two times ago by the database's clock, in the order of writing. Recent entries may
// be missing until their transaction ends. Each database is queried once.
func (j *Journal) AskedAt(ctx context.Context, tenant string, from, to time.Duration) ([]journal.Head, error) {
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	number := func(ago time.Duration) int64 { return int64(ago.Seconds() * perSecond) }
	parts := make([][]journal.Head, len(j.shards))
	err := j.each(func(i int, s *shard) error {
		return s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, askedAtSQL, []byte(tenant), number(from), number(to), maxAskedAt)
			if err != nil {
				return err
			}
			parts[i], err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h journal.Head, err error) {
				var session, hash []byte
				var seq, id int64
				err = row.Scan(&session, &seq, &hash, &h.At, &id)
				h.Session = journal.Session{Tenant: tenant, ID: floodmark.SessionID(session)}
				h.Link, h.Mark = postgres.LinkOf(seq, hash), journal.Mark(id)
				return h, err
			})
			parts[i] = slices.DeleteFunc(parts[i], func(h journal.Head) bool { return !s.holds(h.Session) })
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read what was asked elsewhere: %w", err)
	}
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b journal.Head) int { return int(min(max(a.Mark-b.Mark, -1), 1)) })
	return all, nil
}
