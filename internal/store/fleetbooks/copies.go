package fleetbooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

const copiesSQL = `
SELECT h.session, h.seq, h.hash, h.entries, coalesce(m.at, s.at, 0) FROM mirror_heads h
LEFT JOIN mirror m ON m.tenant = h.tenant AND m.machine = h.machine AND m.session = h.session AND m.seq = h.seq
LEFT JOIN mirror_stones s ON s.tenant = h.tenant AND s.machine = h.machine AND s.session = h.session AND s.seq = h.seq
WHERE h.tenant = $1 AND h.machine = $2 ORDER BY 5 DESC, h.session LIMIT $3`

// Copies implements [machines.Book].
func (b machineBook) Copies(ctx context.Context, tenant string, id machines.ID, limit int) (list []machines.Copy, err error) {
	if b.closed() {
		return nil, journal.ErrClosed
	}
	err = b.of(id).Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, copiesSQL, []byte(tenant), string(id), limit)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (one machines.Copy, err error) {
			var session, hash []byte
			var seq, at int64
			err = row.Scan(&session, &seq, &hash, &one.Entries, &at)
			one.Session, one.Head, one.At = floodmark.SessionID(session), postgres.LinkOf(seq, hash), time.Unix(0, at).UTC()
			return one, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the copies of machine %s: %w", id, err)
	}
	return list, nil
}

const oldCopiesSQL = `
SELECT h.tenant, h.machine, h.session, h.seq, h.hash FROM mirror_heads h
LEFT JOIN mirror_stones s ON s.tenant = h.tenant AND s.machine = h.machine AND s.session = h.session
WHERE h.moved < $1 AND coalesce(s.seq, 0) < h.seq LIMIT $2`

// Old implements [machines.Book].
func (b machineBook) Old(ctx context.Context, since time.Time, limit int) ([]machines.OldCopy, error) {
	if b.closed() {
		return nil, journal.ErrClosed
	}
	var list []machines.OldCopy
	for _, s := range b.databases {
		var part []machines.OldCopy
		err := s.Read(ctx, postgres.AllTenants, func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, oldCopiesSQL, since, limit-len(list))
			if err != nil {
				return err
			}
			part, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (one machines.OldCopy, err error) {
				var tenant, session, hash []byte
				var seq int64
				err = row.Scan(&tenant, &one.Machine, &session, &seq, &hash)
				one.Tenant, one.Session, one.Head = string(tenant), floodmark.SessionID(session), postgres.LinkOf(seq, hash)
				return one, err
			})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for old copies: %w", err)
		}
		if list = append(list, part...); len(list) >= limit {
			break
		}
	}
	return list, nil
}

const buryCopySQL = `SELECT bury_copy($1, $2, $3, $4, $5, $6, $7)`

// Bury implements [machines.Book].
func (b machineBook) Bury(ctx context.Context, tenant string, id machines.ID, s floodmark.SessionID, t journal.Tombstone) (done bool, err error) {
	err = b.write(ctx, tenant, b.of(id), func(ctx context.Context, tx pgx.Tx) error {
		if err := hasMachine(ctx, tx, tenant, id); err != nil {
			return err
		}
		return tx.QueryRow(ctx, buryCopySQL, []byte(tenant), string(id), []byte(s), int64(t.Link.Seq), t.Link.Hash[:], t.At, postgres.NotNull(t.Note)).Scan(&done)
	})
	if postgres.IsDenied(err) {
		err = errors.Join(machines.ErrMayNotErase, err)
	}
	if err != nil {
		return false, fmt.Errorf("erase the copy of a session of machine %s: %w", id, err)
	}
	return done, nil
}
