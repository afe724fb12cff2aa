// Package postgres reaches a database in PostgreSQL that keeps what it acknowledged: it finds the
// primary, refuses a server that may lose writes, shows only the rows of given tenants, and migrates
// the tables.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/journal"
)

// Options say how a database is reached. All of them are required.
type Options struct {
	Schema string // holds the tables
	// Writers and Readers are how many connections may write and read.
	Writers, Readers int
	// Timeout bounds every statement, with its wait for the replica.
	Timeout time.Duration
}

// A Database is one database with its connections. It is safe for concurrent use.
type Database struct {
	schema           string
	writers, readers *pgxpool.Pool
	primary          primary
	timeout          time.Duration
}

// Open connects to the primary among the servers dsn names, and migrates its tables.
func Open(ctx context.Context, dsn string, o Options) (*Database, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, HideSecret(err)
	}
	d := &Database{schema: o.Schema, timeout: o.Timeout}
	if err := migrate(ctx, config.ConnConfig, &d.primary, o); err != nil {
		return nil, err
	}
	if d.writers, err = openPool(ctx, config, &d.primary, o, o.Writers); err != nil {
		return nil, err
	}
	if d.readers, err = openPool(ctx, config, &d.primary, o, o.Readers); err != nil {
		d.writers.Close()
		return nil, err
	}
	return d, nil
}

// Close closes the connections.
func (d *Database) Close() {
	d.writers.Close()
	d.readers.Close()
}

// Schema returns the schema that holds the tables.
func (d *Database) Schema() string { return d.schema }

// Timeout returns what bounds every statement.
func (d *Database) Timeout() time.Duration { return d.timeout }

// Pools returns the connections that write and read.
func (d *Database) Pools() (writers, readers *pgxpool.Pool) { return d.writers, d.readers }

// GiveUp looks for the primary at the next server, with new connections.
func (d *Database) GiveUp() {
	d.primary.distrust()
	d.writers.Reset()
	d.readers.Reset()
}

// CheckAgain makes each idle connection that writes check the server's settings before its next use,
// without waiting for checkEvery.
func (d *Database) CheckAgain(ctx context.Context) {
	for _, c := range d.writers.AcquireAllIdle(ctx) {
		noticesOf(c.Conn().PgConn()).checked = time.Time{}
		c.Release()
	}
}

// GivenUp returns how often a server was given up.
func (d *Database) GivenUp() int64 { return d.primary.turn.Load() }

// Read runs f with a connection that sees the rows of these tenants, within the statement timeout.
func (d *Database) Read(asked context.Context, tenants string, f func(context.Context, *pgxpool.Conn) error) error {
	return d.ReadWithin(asked, d.timeout, tenants, f)
}

// ReadWithin is [Database.Read] with another timeout.
func (d *Database) ReadWithin(asked context.Context, within time.Duration, tenants string, f func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(asked, within)
	defer cancel()
	// A connection may have died since its last use, so a read is retried once.
	for try := 0; ; try++ {
		err := d.readers.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
			if err := ActsAs(ctx, c.Conn(), tenants); err != nil {
				return err
			}
			err := f(ctx, c)
			if err != nil {
				noticesOf(c.Conn().PgConn()).tenants = otherTenants
			}
			return err
		})
		if err == nil || try > 0 || ctx.Err() != nil || OutcomeOf(err) == Refused {
			return away(asked, err)
		}
	}
}

// An Outcome is what an error means for a write.
type Outcome int

// The outcomes of a write.
const (
	Doubtful  Outcome = iota // it may have been committed, or may still be
	Refused                  // the server rolled it back
	Contended                // the server rolled it back because of another writer
	Unsent                   // it never reached the server, or this server takes no writes
)

// OutcomeOf classifies an error of a write. An unknown one is Doubtful.
func OutcomeOf(err error) Outcome {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, ErrAfterwards):
		return Doubtful
	case errors.As(err, &connect), pgconn.SafeToRetry(err):
		return Unsent
	case errors.Is(err, journal.ErrNotDurable), errors.Is(err, ErrPool):
		return Unsent
	case !errors.As(err, &pg):
		return Doubtful
	case pg.SeverityUnlocalized != "ERROR":
		return Doubtful // FATAL may also come during the wait for a replica, after the commit
	}
	switch pg.Code {
	case "23505", "40P01", "40001", "55P03": // duplicate, deadlock, serialisation, lock timeout
		return Contended
	case "25006": // read-only: it was demoted
		return Unsent
	}
	return Refused
}

// Begun returns a context for a write. It ends with the statement timeout, but not with the caller's
// context. So a write that has begun is finished, and a caller that goes away is not mistaken for a
// hanging server, which would replace all connections.
func (d *Database) Begun(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d.timeout)
}

// ErrPool says that no connection was available.
var ErrPool = errors.New("no connection")

// Write runs f with a writing connection. A warning is an error: it may mean that the commit did
// not wait for the replica.
func (d *Database) Write(ctx context.Context, f func(*pgx.Conn) error) error {
	c, err := d.writers.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPool, err)
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
			d.GiveUp()
		case OutcomeOf(err) == Unsent:
			_ = c.Conn().Close(ctx) // find the primary again
		}
		return err
	}
	return heard.warning()
}

// ErrAfterwards says that the error came after a part of a write may have been made.
var ErrAfterwards = errors.New("look at what was written")

// SettledSQL writes only a message to the server's log, and its commit waits until everything
// before it is durable.
const SettledSQL = `SELECT pg_logical_emit_message(true, 'floodmark', '')`

// The pauses between two tries of a write.
const (
	FirstPause = 10 * time.Millisecond
	LongPause  = 500 * time.Millisecond
)

// Because returns which of two tries' errors tells why a write failed. It is the earlier one if the
// later try only ran out of time before it reached the server.
func Because(before, now error, late bool) error {
	if before != nil && late && OutcomeOf(now) == Unsent {
		return before
	}
	return now
}

// Each calls f for each of n databases concurrently and returns the first error.
func Each(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// IsDenied reports whether the role lacks a right.
func IsDenied(err error) bool {
	pg := (*pgconn.PgError)(nil)
	return errors.As(err, &pg) && pg.Code == "42501"
}

// NotNull keeps an absent slice from becoming NULL.
func NotNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// LinkOf makes a link. The table's hashes all have the right length.
func LinkOf(seq int64, hash []byte) journal.Link {
	l := journal.Link{Seq: uint64(seq)}
	copy(l.Hash[:], hash)
	return l
}
