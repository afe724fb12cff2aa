package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/journal"
)

const (
	// checkEvery is how often a server's settings are checked again: some can change while it runs.
	checkEvery = 10 * time.Second
	// connectTimeout bounds connecting to one server if the DSN does not, so that after a server
	// that hangs the next one is tried.
	connectTimeout = 3 * time.Second
)

func openPool(ctx context.Context, base *pgxpool.Config, p *primary, opts Options, size int) (*pgxpool.Pool, error) {
	config := base.Copy()
	prepare(config.ConnConfig, p)
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		p.arrange(c)
		return nil
	}
	config.MinConns = 0
	config.MaxConns = int32(size)
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error { return checkAll(ctx, c, opts.Schema) }
	config.PrepareConn = func(ctx context.Context, c *pgx.Conn) (bool, error) {
		if !p.holds(c.PgConn()) {
			return false, nil // connect to the server that replaced it
		}
		if time.Since(noticesOf(c.PgConn()).checked) < checkEvery {
			return true, nil
		}
		if err := checkAll(ctx, c, opts.Schema); err != nil {
			return false, err
		}
		return true, nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, HideSecret(err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, explain(err)
	}
	return pool, nil
}

// prepare makes a connection find the primary by its role, regardless of the DSN, and listen to the
// server's notices.
func prepare(config *pgx.ConnConfig, p *primary) {
	config.ValidateConnect = p.validate
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) { noticesOf(c).hear(n) }
}

// Notices are a server's messages on a connection. A connection is used by one goroutine at a time,
// so they need no lock.
type notices struct {
	checked  time.Time
	timeline int64          // of its server, when it was found to be the primary
	heard    *pgconn.Notice // the first warning since forget
	guarded  bool           // the server shows only rows of the tenants that are set
	tenants  string         // the setting, as ActsAs set it
}

const noticesKey = "floodmark"

func noticesOf(c *pgconn.PgConn) *notices {
	n, ok := c.CustomData()[noticesKey].(*notices)
	if !ok {
		n = &notices{}
		c.CustomData()[noticesKey] = n
	}
	return n
}

func (n *notices) hear(notice *pgconn.Notice) {
	if n.heard == nil && notice.SeverityUnlocalized == "WARNING" {
		n.heard = notice
	}
}

func (n *notices) forget() { n.heard = nil }

// warning returns an error that [OutcomeOf] treats as doubt. Every warning counts, because their
// texts are translated and have no codes.
func (n *notices) warning() error {
	if n.heard == nil {
		return nil
	}
	return fmt.Errorf("the server warned: %s", n.heard.Message)
}

// The settings are read and then pinned for the life of the connection. They make the planner use
// the keys, even if its statistics still say that the tables are empty: every statement should be a
// few look-ups by key.
const checkSQL = `
SELECT current_setting('fsync'), current_setting('full_page_writes'),
    current_setting('synchronous_commit'), pg_is_in_recovery(),
    (SELECT coalesce(string_agg(c.relname, ', ' ORDER BY c.relname), '')
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'S') AND c.relpersistence <> 'p'),
    set_config('synchronous_commit', current_setting('synchronous_commit'), false),
    set_config('search_path', $2, false),
    set_config('jit', 'off', false), set_config('enable_seqscan', 'off', false),
    set_config('enable_bitmapscan', 'off', false), set_config('enable_mergejoin', 'off', false),
    set_config('enable_nestloop', 'off', false), -- a LATERAL still is one
    set_config('plan_cache_mode', 'force_generic_plan', false)`

// checkAll checks a connection before it is used: the server, as check does, and the version of the
// tables, because a newer program may have changed them since this one started.
func checkAll(ctx context.Context, c *pgx.Conn, schema string) error {
	if err := check(ctx, c, schema); err != nil {
		return err
	}
	all, err := steps()
	if err != nil {
		return err
	}
	v, err := (&migration{c: c}).version(ctx)
	if err == nil && v.needs > len(all) {
		err = errNewerTables
	}
	if err != nil {
		return err
	}
	n := noticesOf(c.PgConn())
	n.tenants = otherTenants
	return c.QueryRow(ctx, "SELECT row_security_active('facts')").Scan(&n.guarded)
}

// check refuses a server that may lose acknowledged writes.
func check(ctx context.Context, c *pgx.Conn, schema string) error {
	var fsync, pages, commit, unlogged, none string
	var standby bool
	path := pgx.Identifier{schema}.Sanitize() + ", pg_temp" // pg_temp would come first if it were not named
	err := c.QueryRow(ctx, checkSQL, schema, path).
		Scan(&fsync, &pages, &commit, &standby, &unlogged, &none, &none, &none, &none, &none, &none, &none, &none)
	switch {
	case err != nil:
		return err
	case standby:
		return notDurable("this server is a standby", "name the primary in the DSN, or all servers")
	case fsync != "on":
		return notDurable("fsync is "+fsync, "set fsync = on in postgresql.conf")
	case pages != "on":
		return notDurable("full_page_writes is "+pages, "set full_page_writes = on in postgresql.conf")
	case !slices.Contains([]string{"on", "remote_apply"}, commit):
		return notDurable("synchronous_commit is "+commit, "set it to on for the server, the role, the database, and in the DSN")
	case unlogged != "":
		return notDurable("unlogged: "+unlogged, "ALTER TABLE … SET LOGGED")
	}
	noticesOf(c.PgConn()).checked = time.Now()
	return nil
}

func notDurable(what, hint string) error {
	return fmt.Errorf("%w: %s (%s)", journal.ErrNotDurable, what, hint)
}

// explain adds a hint for people if all servers were refused because they take no writes.
func explain(err error) error {
	if errors.Is(err, pgconn.ErrReadOnlyConnection) {
		return notDurable("no server that takes writes: only standbys, or default_transaction_read_only is on", "name the primary in the DSN, or all servers")
	}
	return err
}

// HideSecret keeps a DSN's password out of errors. pgx hides the password if it can parse the DSN.
// If it cannot, HideSecret leaves out the text of the error.
func HideSecret(err error) error {
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		return errors.New("the DSN cannot be read (want postgres://user@host/database or host=… user=… dbname=…)")
	}
	return err
}
