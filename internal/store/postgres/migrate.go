package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// migrationLock is the advisory lock of migrating nodes, combined with the schema's name:
// «floodmar» as a number.
const migrationLock = 0x666c6f6f646d6172

// Migrations run beside live nodes. A statement that would wait for a lock gives up, because all
// later statements would queue behind it, and is retried.
const (
	migrationLockTimeout = "1s"
	migrationPause       = 100 * time.Millisecond
	maxMigration         = 5 * time.Minute
)

// migrate migrates the tables if this role may, each step atomically, and refuses unknown tables.
func migrate(ctx context.Context, base *pgx.ConnConfig, p *primary, opts Options) error {
	all, err := steps()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxMigration)
	defer cancel()
	config := base.Copy()
	prepare(config, p)
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if err := check(ctx, c, opts.Schema); err != nil {
		return err
	}
	m := migration{c: c, schema: opts.Schema, all: all}
	return m.run(ctx)
}

// A migration is one program's migration of the tables.
type migration struct {
	c      *pgx.Conn
	schema string
	all    []step
}

// A version is the last step of the tables, and the step a program must know.
type version struct{ at, needs int }

// run migrates the tables. If there is nothing to do it takes no lock, because nodes start often and
// migrations are rare.
func (m *migration) run(ctx context.Context) error {
	v, err := m.version(ctx)
	if err != nil {
		return err
	}
	if v.needs > len(m.all) {
		return errNewerTables
	}
	if v.at >= len(m.all) {
		return nil
	}
	may, err := m.may(ctx)
	if err != nil {
		return err
	}
	if !may {
		return fmt.Errorf("the tables are at step %d and this program needs step %d: run «floodmark journal init» as their owner", v.at, len(m.all))
	}
	return m.locked(ctx, func() error { return m.forward(ctx) })
}

// errNewerTables says that a newer program has changed the tables beyond what this one supports.
var errNewerTables = errors.New("a newer Floodmark has changed the tables: this one does not know them, so run the newer one")

// versionSQL is used only if the table exists.
const versionSQL = `SELECT coalesce(max(version), 0), coalesce(max(coalesce((to_jsonb(m) ->> 'needs')::int, version)), 0) FROM migrations m`

func (m *migration) version(ctx context.Context) (v version, err error) {
	var there bool
	if err := m.c.QueryRow(ctx, "SELECT to_regclass('migrations') IS NOT NULL").Scan(&there); err != nil || !there {
		return v, err
	}
	err = m.c.QueryRow(ctx, versionSQL).Scan(&v.at, &v.needs)
	return v, err
}

// may reports whether this role may change tables: it can create some in the schema, or create the
// schema.
func (m *migration) may(ctx context.Context) (may bool, err error) {
	err = m.c.QueryRow(ctx, `SELECT coalesce((SELECT has_schema_privilege(n.oid, 'CREATE') FROM pg_namespace n WHERE n.nspname = $1),
		has_database_privilege(current_database(), 'CREATE'))`, m.schema).Scan(&may)
	return may, err
}

// locked runs f while no other node migrates. It polls for the lock instead of queueing, because the
// other node's CREATE INDEX CONCURRENTLY would wait for the queued statement.
func (m *migration) locked(ctx context.Context, f func() error) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.schema))
	key := int64(migrationLock ^ h.Sum64())
	for {
		var ours bool
		if err := m.c.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&ours); err != nil {
			return err
		}
		if ours {
			break
		}
		if err := Sleep(ctx, migrationPause); err != nil {
			return fmt.Errorf("wait for another node's migration: %w", err)
		}
	}
	err := f()
	_, unlock := m.c.Exec(ctx, "SELECT pg_advisory_unlock($1)", key)
	if err == nil {
		err = unlock
	}
	return err
}

// forward takes the missing steps. Another node may have taken some while this one waited.
func (m *migration) forward(ctx context.Context) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	v, err := m.version(ctx)
	if err != nil {
		return err
	}
	for _, s := range m.all[min(v.at, len(m.all)):] {
		for {
			err := m.take(ctx, s)
			if err == nil {
				break
			}
			if pg := (*pgconn.PgError)(nil); !errors.As(err, &pg) || pg.Code != "55P03" && pg.Code != "40P01" {
				return fmt.Errorf("migration %s: %w", s.name, err)
			}
			if late := Sleep(ctx, migrationPause); late != nil {
				return fmt.Errorf("migration %s: %w", s.name, err)
			}
		}
	}
	return nil
}

// begin creates what migrations themselves need.
func (m *migration) begin(ctx context.Context) error {
	var there bool
	if err := m.c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", m.schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := m.c.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{m.schema}.Sanitize()); err != nil {
			return fmt.Errorf("make schema %s: %w", m.schema, err)
		}
	}
	_, err := m.c.Exec(ctx, `
		SET client_min_messages = error; SET lock_timeout = '`+migrationLockTimeout+`';
		CREATE TABLE IF NOT EXISTS migrations (version int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now());
		ALTER TABLE migrations ADD COLUMN IF NOT EXISTS needs int`, pgx.QueryExecModeSimpleProtocol)
	return err
}

// take takes one step and records it.
func (m *migration) take(ctx context.Context, s step) error {
	const done = "INSERT INTO migrations (version, name, needs) VALUES ($1, $2, $3)"
	if s.oneByOne {
		for _, sql := range s.statements() {
			if _, err := m.c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		_, err := m.c.Exec(ctx, done, s.version, s.name, s.needs)
		return err
	}
	return pgx.BeginFunc(ctx, m.c, func(tx pgx.Tx) error {
		// Several commands in one text need the simple protocol.
		if _, err := tx.Exec(ctx, s.text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, done, s.version, s.name, s.needs)
		return err
	})
}

// Sleep waits, and returns an error if ctx ended.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
