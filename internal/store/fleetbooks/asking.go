package fleetbooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

const (
	askSQL = `INSERT INTO machine_asks (tenant, id, at, open) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant, id) DO UPDATE SET at = excluded.at, open = excluded.open`
	askedSQL = `SELECT m.id, m.name, a.at, a.open FROM machine_asks a JOIN machines m ON m.tenant = a.tenant AND m.id = a.id
WHERE a.tenant = $1 AND a.at >= $2 AND NOT EXISTS (SELECT FROM machine_ends e WHERE e.tenant = a.tenant AND e.id = a.id)`
	answerSQL  = `INSERT INTO machine_answers (tenant, id, ticket, at, answer) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, id, ticket) DO NOTHING`
	answersSQL = `SELECT id, answer FROM machine_answers WHERE tenant = $1 AND id = ANY($2) AND at >= $3`
)

// Ask implements [machines.Asking].
func (b machineBook) Ask(ctx context.Context, tenant string, id machines.ID, at time.Time, open []byte) error {
	err := b.write(ctx, tenant, b.of(id), func(ctx context.Context, tx pgx.Tx) error {
		if err := hasMachine(ctx, tx, tenant, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, askSQL, []byte(tenant), string(id), at.UnixNano(), postgres.NotNull(open))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the questions of machine %s: %w", id, err)
	}
	return nil
}

// Asked implements [machines.Asking].
func (b machineBook) Asked(ctx context.Context, tenant string, since time.Time) ([]machines.Asked, error) {
	if b.closed() {
		return nil, journal.ErrClosed
	}
	parts := make([][]machines.Asked, len(b.databases))
	err := b.each(func(i int, s *postgres.Database) error {
		return s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, askedSQL, []byte(tenant), since.UnixNano())
			if err != nil {
				return err
			}
			parts[i], err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a machines.Asked, err error) {
				var at int64
				err = row.Scan(&a.Machine, &a.Name, &at, &a.Open)
				a.At = time.Unix(0, at).UTC()
				return a, err
			})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read what machines ask: %w", err)
	}
	var list []machines.Asked
	for _, part := range parts {
		list = append(list, part...)
	}
	return list, nil
}

// Answer implements [machines.Asking].
func (b machineBook) Answer(ctx context.Context, tenant string, id machines.ID, slot string, at time.Time, answer []byte) (first bool, err error) {
	err = b.write(ctx, tenant, b.of(id), func(ctx context.Context, tx pgx.Tx) error {
		if err := hasMachine(ctx, tx, tenant, id); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, answerSQL, []byte(tenant), string(id), slot, at.UnixNano(), postgres.NotNull(answer))
		first = tag.RowsAffected() > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("keep an answer for machine %s: %w", id, err)
	}
	return first, nil
}

// Answers implements [machines.Asking].
func (b machineBook) Answers(ctx context.Context, tenant string, ids []machines.ID, since time.Time) (map[machines.ID][][]byte, error) {
	if b.closed() {
		return nil, journal.ErrClosed
	}
	at := map[*postgres.Database][]string{}
	for _, id := range ids {
		at[b.of(id)] = append(at[b.of(id)], string(id))
	}
	type answer struct {
		ID     machines.ID
		Answer []byte
	}
	parts := make([][]answer, len(b.databases))
	err := b.each(func(i int, s *postgres.Database) error {
		if len(at[s]) == 0 {
			return nil
		}
		return s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, answersSQL, []byte(tenant), at[s], since.UnixNano())
			if err != nil {
				return err
			}
			parts[i], err = pgx.CollectRows(rows, pgx.RowToStructByPos[answer])
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the answers for machines: %w", err)
	}
	all := map[machines.ID][][]byte{}
	for _, part := range parts {
		for _, a := range part {
			all[a.ID] = append(all[a.ID], a.Answer)
		}
	}
	return all, nil
}
