package postgresjournal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// The name of a batch in several databases is the schema, the first shard of the deciding database,
// and a unique suffix.
const namePrefix = "floodmark:"

func (s *shard) newName() string {
	return namePrefix + s.Schema() + ":" + strconv.Itoa(s.first) + ":" + rand.Text()
}

// decider returns the first shard of a batch's deciding database.
func decider(name string) (first int, ok bool) {
	parts := strings.Split(name, ":")
	if len(parts) < 4 {
		return 0, false
	}
	first, err := strconv.Atoi(parts[len(parts)-2])
	return first, err == nil
}

// prepared returns the name of a batch's prepared transaction in one database, quoted for a
// statement without parameters. It has the shard, because databases of one server share such names.
func (s *shard) prepared(name string) string {
	return "'" + strings.ReplaceAll(name+":"+strconv.Itoa(s.first), "'", "''") + "'"
}

// decision returns whether a batch was committed. If that is undecided, it decides now that the
// batch never will be.
func (s *shard) decision(ctx context.Context, name string) (committed bool, err error) {
	err = s.Write(ctx, func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, "INSERT INTO decisions (batch, committed) VALUES ($1, false) ON CONFLICT DO NOTHING", name); err != nil {
			return err
		}
		if err := c.QueryRow(ctx, "SELECT committed FROM decisions WHERE batch = $1", name).Scan(&committed); err != nil {
			return err
		}
		// It may have been committed without waiting for the replica.
		_, err := c.Exec(ctx, postgres.SettledSQL)
		return err
	})
	return committed, err
}

// finish ends the prepared transaction as decided. It may have ended already.
func (s *shard) finish(ctx context.Context, name string, commit bool) error {
	sql := "ROLLBACK PREPARED " + s.prepared(name)
	if commit {
		sql = "COMMIT PREPARED " + s.prepared(name)
	}
	for pause := postgres.FirstPause; ; pause = min(2*pause, postgres.LongPause) {
		err := s.Write(ctx, func(c *pgx.Conn) error {
			_, err := c.Exec(ctx, sql)
			if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "42704" { // there is none of that name
				_, err = c.Exec(ctx, postgres.SettledSQL)
			}
			return err
		})
		if err == nil || !commit || postgres.Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// Prepared transactions are left alone for this long: the node that prepared them is probably about
// to end them. The number only affects how long the session of a dead node waits.
const (
	abandonedAfter = "3 seconds"
	mendEvery      = 2 * time.Second
)

const preparedSQL = `
SELECT gid FROM pg_prepared_xacts
WHERE database = current_database() AND owner = current_user AND starts_with(gid, $1) AND prepared < now() - interval '` + abandonedAfter + `'`

// anyPreparedSQL and forgetSQL drop decisions that are no longer needed.
const (
	anyPreparedSQL = `SELECT EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database() AND starts_with(gid, $1))`
	forgetSQL      = `DELETE FROM decisions WHERE at < now() - interval '1 hour'`
)

// mend ends transactions that other nodes left prepared, while the journal is open.
func (j *Journal) mend(ctx context.Context) {
	for postgres.Sleep(ctx, mendEvery) == nil {
		_ = j.mendOnce(ctx) // a database that is down is tried again
	}
}

func (j *Journal) mendOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.shards[0].Timeout())
	defer cancel()
	left := false
	for _, s := range j.shards {
		names, some, err := s.abandoned(ctx)
		if err != nil {
			return err
		}
		left = left || some
		for _, name := range names {
			first, ok := decider(name)
			if !ok || first >= Shards || first < 0 {
				continue
			}
			// A transaction that cannot be ended now must not block the others.
			if committed, err := j.shards[j.home[first]].decision(ctx, name); err == nil {
				_ = s.finish(ctx, name, committed)
			}
		}
	}
	if left {
		return nil
	}
	return j.each(func(_ int, s *shard) error {
		return s.Write(ctx, func(c *pgx.Conn) error {
			_, err := c.Exec(ctx, forgetSQL)
			return err
		})
	})
}

// abandoned returns the prepared transactions that their node did not end, and whether anything is
// prepared at all.
func (s *shard) abandoned(ctx context.Context) (names []string, some bool, err error) {
	prefix := namePrefix + s.Schema() + ":"
	err = s.Write(ctx, func(c *pgx.Conn) error {
		if err := c.QueryRow(ctx, anyPreparedSQL, prefix).Scan(&some); err != nil || !some {
			return err
		}
		rows, err := c.Query(ctx, preparedSQL, prefix)
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		for i, name := range names {
			names[i] = strings.TrimSuffix(name, ":"+strconv.Itoa(s.first))
		}
		return err
	})
	return names, some, err
}

// minPrepared is how many prepared transactions a database must allow.
const minPrepared = 8

// canPrepare refuses a database that cannot be one of several.
func (s *shard) canPrepare(ctx context.Context) error {
	return s.Write(ctx, func(c *pgx.Conn) error {
		var n int
		if err := c.QueryRow(ctx, "SELECT current_setting('max_prepared_transactions')::int").Scan(&n); err != nil {
			return err
		}
		if n < minPrepared {
			return fmt.Errorf("%w: max_prepared_transactions is %d on the database for shards %d to %d (set it to 64 in postgresql.conf and restart: a session that begins another in a second database needs it)",
				journal.ErrNotDurable, n, s.first, s.last)
		}
		return nil
	})
}
