package fleetbooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

const listMachinesSQL = `
SELECT m.id, m.name, m.enrolled_by, m.at, coalesce(e.state, 'joined'), coalesce(e.ended_by, ''), r.seen, r.report,
    (SELECT count(*) FROM mirror_heads h WHERE h.tenant = m.tenant AND h.machine = m.id),
    (SELECT coalesce(sum(h.entries), 0)::bigint FROM mirror_heads h WHERE h.tenant = m.tenant AND h.machine = m.id),
    (SELECT count(*) FROM machine_forks f WHERE f.tenant = m.tenant AND f.id = m.id)
FROM machines m
LEFT JOIN machine_ends e ON e.tenant = m.tenant AND e.id = m.id
LEFT JOIN machine_reports r ON r.tenant = m.tenant AND r.id = m.id
WHERE m.tenant = $1 AND m.id = ANY ($2)`

// pageMachinesSQL compares ids byte by byte, as Go does, in any locale of the database.
const pageMachinesSQL = `
SELECT m.id FROM machines m WHERE m.tenant = $1 AND m.id COLLATE "C" > $2
    AND NOT ($4 AND EXISTS (SELECT FROM machine_ends e WHERE e.tenant = m.tenant AND e.id = m.id))
ORDER BY m.id COLLATE "C" LIMIT $3`

// List implements [machines.Book]. It first finds the ids of the page, then reads only those
// machines: a report may be long.
func (b machineBook) List(ctx context.Context, tenant string, p machines.Page) ([]machines.Status, error) {
	ids, err := b.pageOf(ctx, tenant, p)
	if err != nil {
		return nil, fmt.Errorf("list machines: %w", err)
	}
	parts := make([][]machines.Status, len(b.databases))
	err = b.each(func(i int, s *postgres.Database) error {
		var here []string
		for _, id := range ids {
			if b.of(machines.ID(id)) == s {
				here = append(here, id)
			}
		}
		if len(here) == 0 {
			return nil
		}
		return s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, listMachinesSQL, []byte(tenant), here)
			if err != nil {
				return err
			}
			parts[i], err = pgx.CollectRows(rows, machineStatus(tenant))
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list machines: %w", err)
	}
	list := slices.Concat(parts...)
	slices.SortFunc(list, func(a, b machines.Status) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// pageOf returns the ids of a page, over all databases.
func (b machineBook) pageOf(ctx context.Context, tenant string, p machines.Page) ([]string, error) {
	if b.closed() {
		return nil, journal.ErrClosed
	}
	most := max(0, min(p.Most, machines.MaxPage))
	parts := make([][]string, len(b.databases))
	err := b.each(func(i int, s *postgres.Database) error {
		return s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, pageMachinesSQL, []byte(tenant), string(p.After), most, p.Joined)
			if err != nil {
				return err
			}
			parts[i], err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	})
	ids := slices.Concat(parts...)
	slices.Sort(ids)
	return ids[:min(len(ids), most)], err
}

// machineStatus reads a row of listMachinesSQL.
func machineStatus(tenant string) pgx.RowToFunc[machines.Status] {
	return func(row pgx.CollectableRow) (m machines.Status, err error) {
		var at int64
		var seen *int64
		err = row.Scan(&m.ID, &m.Name, &m.By, &at, &m.State, &m.EndedBy, &seen, &m.Report, &m.Sessions, &m.Entries, &m.Forks)
		m.Tenant, m.At = tenant, time.Unix(0, at).UTC()
		if seen != nil {
			m.Seen = time.Unix(0, *seen).UTC()
		}
		return m, err
	}
}
