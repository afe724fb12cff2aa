package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// buriesSQL sets a tombstone if it names its session's last entry, in any month, or the tombstone
// that is already there.
const buriesSQL = `
INSERT INTO tombstones AS old (tenant, session, seq, hash, trust, secrecy, at, why, note)
SELECT r.tenant, r.session, r.after, r.hash, $5::text, $6::text, $7::bigint, $8::text, $9::bytea
FROM (VALUES ($1::bytea, $2::bytea, $3::bigint, $4::bytea)) AS r (tenant, session, after, hash)
LEFT JOIN LATERAL (SELECT t.seq, t.hash FROM tombstones t
    WHERE t.tenant = r.tenant AND t.session = r.session LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT f.seq, f.hash FROM facts f
    WHERE f.tenant = r.tenant AND f.session = r.session AND f.seq >= r.after
    ORDER BY f.seq DESC LIMIT 1) f ON true
WHERE coalesce(t.seq, 0) <= r.after AND coalesce(f.seq, t.seq, 0) = r.after
    AND coalesce(f.hash, t.hash, decode(repeat('00', 32), 'hex')) = r.hash
    AND NOT EXISTS (SELECT FROM barrier)
ON CONFLICT (tenant, session) DO UPDATE
SET seq = excluded.seq, hash = excluded.hash, trust = excluded.trust, secrecy = excluded.secrecy,
    at = excluded.at, why = excluded.why, note = excluded.note, id = excluded.id, swept = false
WHERE old.seq <= excluded.seq`

// buriedSQL finds exactly this tombstone.
const buriedSQL = `
SELECT EXISTS (SELECT FROM tombstones
    WHERE tenant = $1 AND session = $2 AND seq = $3 AND hash = $4 AND note = $5)`

// What a tombstone hides is deleted, then the tombstone is marked as swept. Only the function may
// do that (migration 4). What retention hides in a month is dropped with its table, or deleted late
// if sessions live on there for long.
const (
	sweepSQL   = `SELECT sweep($1, $2, $3)`
	unsweptSQL = `SELECT tenant, session, seq FROM tombstones WHERE NOT swept AND (why <> 'retention' OR month = 0) LIMIT 1000`
	lateSQL    = `SELECT tenant, session, seq FROM tombstones WHERE NOT swept AND month = $1 AND at < $2 LIMIT 1000`
	waitsSQL   = `SELECT why = 'retention' AND month <> 0 FROM tombstones WHERE tenant = $1 AND session = $2`
)

// erase sets the tombstone behind the barrier, so that no append that has not seen it can still be
// under way. From then on the tombstone hides the entries; deleting them takes longer and blocks
// nothing. Erasing is idempotent, so a doubtful outcome is retried.
func (s *shard) erase(ctx context.Context, t journal.Tombstone) error {
	if t.Link.Seq == 0 || t.Link.Seq > math.MaxInt64 {
		return journal.ErrConflict
	}
	if !t.Mark.Valid() {
		return errors.New("the tombstone's mark is not a label")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := s.Begun(ctx) // half an erasure is useless
	defer cancel()
	doubt := false
	var why error
	for pause := postgres.FirstPause; ; pause = min(2*pause, postgres.LongPause) {
		err := s.Write(ctx, func(c *pgx.Conn) error { return bury(ctx, c, t, doubt) })
		if err == nil || errors.Is(err, journal.ErrConflict) {
			return err
		}
		switch postgres.OutcomeOf(err) {
		case postgres.Refused:
			return err
		case postgres.Doubtful:
			doubt = true
		case postgres.Contended, postgres.Unsent:
		}
		why = postgres.Because(why, err, ctx.Err() != nil)
		select {
		case <-ctx.Done():
			if doubt {
				return fmt.Errorf("%w: %w", journal.ErrInDoubt, why)
			}
			return why
		case <-time.After(pause):
		}
	}
}

// bury sets a tombstone and deletes what it hides. With doubt, an earlier try may have set it
// already, and the session may have gone on since.
func bury(ctx context.Context, c *pgx.Conn, t journal.Tombstone, doubt bool) error {
	k := stoneKey{[]byte(t.Session.Tenant), []byte(t.Session.ID), int64(t.Link.Seq)}
	if err := postgres.ActsAs(ctx, c, postgres.TenantList(t.Session.Tenant)); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if err := lockBarrier(ctx, tx); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, buriesSQL, k.tenant, k.session, k.seq, t.Link.Hash[:],
			t.Mark.Trust.String(), t.Mark.Secrecy.String(), t.At, t.Why, postgres.NotNull(t.Note))
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		ours := false
		if doubt {
			err = tx.QueryRow(ctx, buriedSQL, k.tenant, k.session, k.seq, t.Link.Hash[:], postgres.NotNull(t.Note)).Scan(&ours)
		}
		if err == nil && !ours {
			return journal.ErrConflict
		}
		return err
	})
	if postgres.IsDenied(err) {
		return fmt.Errorf("this database role may not erase (grant it the role whose name ends in _eraser): %w", err)
	}
	if err != nil {
		return err
	}
	waits := false
	if t.Why == journal.WhyRetention {
		err = c.QueryRow(ctx, waitsSQL, k.tenant, k.session).Scan(&waits)
	}
	if err == nil && !waits {
		err = k.sweep(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", postgres.ErrAfterwards, err)
	}
	return nil
}

// A stoneKey names a tombstone.
type stoneKey struct {
	tenant, session []byte
	seq             int64
}

func (k stoneKey) sweep(ctx context.Context, c *pgx.Conn) error {
	if err := postgres.ActsAs(ctx, c, postgres.TenantList(string(k.tenant))); err != nil {
		return err
	}
	_, err := c.Exec(ctx, sweepSQL, k.tenant, k.session, k.seq)
	return err
}

// sweepAll deletes what is hidden by tombstones of nodes that died before deleting it.
func (s *shard) sweepAll(ctx context.Context) error {
	return s.Write(ctx, func(c *pgx.Conn) error { return sweepFound(ctx, c, unsweptSQL) })
}

// sweepFound deletes what a query finds.
func sweepFound(ctx context.Context, c *pgx.Conn, find string, args ...any) error {
	for {
		if err := postgres.ActsAs(ctx, c, postgres.AllTenants); err != nil {
			return err
		}
		rows, err := c.Query(ctx, find, args...)
		if err != nil {
			return err
		}
		keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k stoneKey, err error) {
			err = row.Scan(&k.tenant, &k.session, &k.seq)
			return k, err
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, k := range keys {
			if err := k.sweep(ctx, c); err != nil {
				return err
			}
		}
	}
}
