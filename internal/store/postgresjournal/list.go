package postgresjournal

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

// A Month is a part of a journal that is dropped as a whole.
type Month struct {
	// Month is when its sessions began, as 202611; 0 has the sessions from before months existed.
	Month int `json:"month"`
	// Sessions is how many live in it; for month 0 only those written to since months exist.
	Sessions int64 `json:"sessions"`
	// Bytes is its size on disk, with its indexes.
	Bytes int64 `json:"bytes"`
}

const listSQL = `
SELECT m.month, (SELECT count(*) FROM births b WHERE b.month = m.month), pg_total_relation_size(m.oid)
FROM (SELECT 0 AS month, 'facts'::regclass AS oid
    UNION ALL
    SELECT substr(c.relname, 7)::int, c.oid FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'facts'::regclass AND c.relname ~ '^facts_[0-9]{6}$') m
ORDER BY m.month`

// Months lists the months of a journal, summed over its databases, the oldest
// first. It changes nothing.
func Months(ctx context.Context, ranges []Range, opts Options) ([]Month, error) {
	opts, err := opts.check()
	if err != nil {
		return nil, err
	}
	var all []Month
	for _, r := range ranges {
		list, err := monthsOf(ctx, r.DSN, opts)
		if err != nil {
			return nil, fmt.Errorf("list the months: %w", err)
		}
		all = addMonths(all, list)
	}
	return all, nil
}

func monthsOf(ctx context.Context, dsn string, opts Options) (list []Month, err error) {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, postgres.HideSecret(err)
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	path := pgx.Identifier{opts.Schema}.Sanitize() + ", pg_temp"
	if _, err := c.Exec(ctx, "SELECT set_config('search_path', $1, false), set_config('floodmark.tenants', '*', false)", path); err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, listSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Month])
}

// addMonths adds two sorted lists.
func addMonths(a, b []Month) (sum []Month) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Month < b[0].Month:
			sum, a = append(sum, a[0]), a[1:]
		case a[0].Month > b[0].Month:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum = append(sum, Month{a[0].Month, a[0].Sessions + b[0].Sessions, a[0].Bytes + b[0].Bytes})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}
