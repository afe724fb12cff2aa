package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/journal"
)

// A shard is one database with the shards first to last: its connections, its queue, and all SQL. A
// session is in one with all its data.
type shard struct {
	first, last int
	schema      string

	writers *pgxpool.Pool
	readers *pgxpool.Pool
	primary primary
	timeout time.Duration
	// tidyTime bounds dropping old months.
	tidyTime time.Duration
	queue    *queue
	lookups  *lookups
	homes    *homes
	probes   *probes
	// apartBytes bounds the words of one tenant in a statement of its own.
	apartBytes int64
}

func openShard(ctx context.Context, r Range, opts Options) (*shard, error) {
	config, err := pgxpool.ParseConfig(r.DSN)
	if err != nil {
		return nil, hideSecret(err)
	}
	s := &shard{first: r.First, last: r.Last, schema: opts.Schema, timeout: opts.Timeout, tidyTime: tidyTime, homes: newHomes(), apartBytes: maxApartBytes}
	if err := migrate(ctx, config.ConnConfig, &s.primary, opts); err != nil {
		return nil, err
	}
	// More than there are writers: neither erasing nor writing to several databases must wait for a
	// turn.
	if s.writers, err = openPool(ctx, config, &s.primary, opts, opts.Writers+1+maxSpread); err != nil {
		return nil, err
	}
	if s.readers, err = openPool(ctx, config, &s.primary, opts, opts.Readers); err != nil {
		s.writers.Close()
		return nil, err
	}
	if err := s.sweepAll(ctx); err != nil && !isDenied(err) { // a role with the right to will do it
		s.writers.Close()
		s.readers.Close()
		return nil, fmt.Errorf("delete what was erased: %w", err)
	}
	if err := s.makeMonths(ctx); err != nil {
		s.writers.Close()
		s.readers.Close()
		return nil, fmt.Errorf("prepare the months: %w", err)
	}
	s.queue = newQueue(opts.Queue, opts.Writers, s.settle)
	s.lookups = newLookups(s.lookUp, s.timeout, opts.Readers)
	s.probes = newProbes()
	return s, nil
}

// close waits for the writes, then for the connections.
func (s *shard) close() {
	s.queue.close()
	s.lookups.close()
	s.probes.close()
	s.writers.Close()
	s.readers.Close()
}

// read runs f with a connection that sees the rows of these tenants, within the statement timeout.
func (s *shard) read(asked context.Context, tenants string, f func(context.Context, *pgxpool.Conn) error) error {
	return s.readWithin(asked, s.timeout, tenants, f)
}

func (s *shard) readWithin(asked context.Context, within time.Duration, tenants string, f func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(asked, within)
	defer cancel()
	// A connection may have died since its last use, so a read is retried once.
	for try := 0; ; try++ {
		err := s.readers.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
			if err := actsAs(ctx, c.Conn(), tenants); err != nil {
				return err
			}
			err := f(ctx, c)
			if err != nil {
				noticesOf(c.Conn().PgConn()).tenants = otherTenants
			}
			return err
		})
		if err == nil || try > 0 || ctx.Err() != nil || outcomeOf(err) == refused {
			return away(asked, err)
		}
	}
}

// An outcome is what an error means for a write.
type outcome int

const (
	doubtful  outcome = iota // it may have been committed, or may still be
	refused                  // the server rolled it back
	contended                // the server rolled it back because of another writer
	unsent                   // it never reached the server, or this server takes no writes
)

// outcomeOf classifies an error of a write. An unknown one is doubtful.
func outcomeOf(err error) outcome {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, errAfterwards):
		return doubtful
	case errors.As(err, &connect), pgconn.SafeToRetry(err):
		return unsent
	case errors.Is(err, journal.ErrNotDurable), errors.Is(err, errPool):
		return unsent
	case !errors.As(err, &pg):
		return doubtful
	case pg.SeverityUnlocalized != "ERROR":
		return doubtful // FATAL may also come during the wait for a replica, after the commit
	}
	switch pg.Code {
	case "23505", "40P01", "40001", "55P03": // duplicate, deadlock, serialisation, lock timeout
		return contended
	case "25006": // read-only: it was demoted
		return unsent
	}
	return refused
}

// begun detaches a write from its caller, within the statement timeout: a write once begun is
// finished, and a caller that goes away is not mistaken for a hanging server, for which all
// connections would be replaced.
func (s *shard) begun(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
}

// errPool says that no connection was available.
var errPool = errors.New("no connection")

// write runs f with a writing connection. A warning is an error: it may mean that the commit did
// not wait for the replica.
func (s *shard) write(ctx context.Context, f func(*pgx.Conn) error) error {
	c, err := s.writers.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errPool, err)
	}
	defer c.Release()
	heard := noticesOf(c.Conn().PgConn())
	heard.forget()
	if err := f(c.Conn()); err != nil {
		heard.tenants = otherTenants
		switch {
		case ctx.Err() != nil:
			// The server hangs, perhaps because it was replaced, and so would all other
			// connections.
			s.primary.distrust()
			s.writers.Reset()
			s.readers.Reset()
		case outcomeOf(err) == unsent:
			_ = c.Conn().Close(ctx) // find the primary again
		}
		return err
	}
	return heard.warning()
}
