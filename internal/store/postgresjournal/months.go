package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

const (
	// monthsEvery is how often a node lists the months, and has the next one created. That is done
	// a month ahead, so any shorter time will do.
	monthsEvery = 10 * time.Minute
	// lateAfter is how long erased facts may wait for their month to be dropped. If sessions of the
	// month live on for longer, the facts are deleted one by one.
	lateAfter = 35 * 24 * time.Hour
	// tidyTime bounds dropping old months, with its waits for the replica, because its caller also
	// has to sign and to erase.
	tidyTime = 5 * time.Minute
)

const (
	makeMonthsSQL = `SELECT make_months()`
	monthsSQL     = `
SELECT month_of(now()), coalesce(array_agg(substr(c.relname, 7)::int ORDER BY c.relname), '{}')
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'facts'::regclass AND c.relname ~ '^facts_[0-9]{6}$'`
	overSQL      = `SELECT m FROM unnest($1::int[]) m WHERE m < month_of(now() - interval '31 days')`
	dropMonthSQL = `SELECT drop_month($1)`
)

// isGone reports whether a table does not exist any more.
func isGone(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Code == "42P01"
}

// isBusy reports whether a lock timed out.
func isBusy(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && (pg.Code == "55P03" || pg.Code == "40P01")
}

// makeMonths creates the tables of this month and the next. If that is impossible now, it returns no
// error, and sessions begin in the earlier table.
func (s *shard) makeMonths(ctx context.Context) error {
	err := s.Write(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, makeMonthsSQL)
		return err
	})
	if err != nil && !postgres.IsDenied(err) && !isBusy(err) {
		return err
	}
	_, err = s.look(ctx)
	return err
}

// look lists the existing months, the oldest first.
func (s *shard) look(ctx context.Context) (all []month, err error) {
	var current month
	err = s.Read(ctx, postgres.NoTenants, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, monthsSQL).Scan(&current, &all)
	})
	if err != nil {
		return nil, fmt.Errorf("look which months there are: %w", err)
	}
	s.homes.learn(current, all)
	return all, nil
}

// prepareMonths keeps the next month ready while the journal is open.
func (j *Journal) prepareMonths(ctx context.Context) {
	for postgres.Sleep(ctx, monthsEvery) == nil {
		_ = j.each(func(_ int, s *shard) error { // a database that is down is tried again
			within, cancel := context.WithTimeout(ctx, s.Timeout())
			defer cancel()
			return s.makeMonths(within)
		})
	}
}

// Tidy drops what erased sessions left: whole months without live sessions, and single rows in
// other months once they are old enough. It does nothing without the right to erase, and gives up
// after minutes.
func (j *Journal) Tidy(ctx context.Context, now time.Time) (dropped int, err error) {
	counts := make([]int, len(j.shards))
	err = j.each(func(i int, s *shard) (err error) {
		counts[i], err = s.tidy(ctx, now)
		return err
	})
	for _, n := range counts {
		dropped += n
	}
	if err != nil {
		return dropped, fmt.Errorf("let old months go: %w", err)
	}
	return dropped, nil
}

func (s *shard) tidy(ctx context.Context, now time.Time) (dropped int, err error) {
	all, err := s.look(ctx)
	if err != nil {
		return 0, err
	}
	// A slow drop is no sign of a hanging server, so a timeout of its own ends only the statement
	// and its connection.
	within, cancel := context.WithTimeout(ctx, s.tidyTime)
	defer cancel()
	var over []month
	err = s.Write(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(within, overSQL, all)
		if err != nil {
			return err
		}
		over, err = pgx.CollectRows(rows, pgx.RowTo[month])
		return err
	})
	if err != nil {
		return 0, err
	}
	var stay []error // why months stay; others are dropped all the same
	for _, m := range over {
		gone := false
		err := s.Write(ctx, func(c *pgx.Conn) error { return c.QueryRow(within, dropMonthSQL, m).Scan(&gone) })
		switch {
		case isBusy(err): // a reader uses the month: it is dropped next time
			continue
		case postgres.IsDenied(err) && !mayDrop(err):
			return dropped, nil
		case gone:
			dropped++
		case err == nil:
			err = s.Write(ctx, func(c *pgx.Conn) error { return sweepFound(within, c, lateSQL, m, now.Add(-lateAfter).UnixNano()) })
		}
		if err != nil && within.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("month %d: it took longer than %s, and is tried again", m, s.tidyTime)
		}
		if err != nil && !postgres.IsDenied(err) {
			return dropped, errors.Join(append(stay, err)...)
		}
		stay = append(stay, err)
	}
	return dropped, errors.Join(stay...)
}

// mayDrop reports whether the function itself refused, so that the role has the right to call it.
func mayDrop(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Routine == "exec_stmt_raise"
}
