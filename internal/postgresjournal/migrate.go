package postgresjournal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Migrations only go forward. One that was released never changes; the next
// step is the next file.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock under which nodes take turns: «floodmar»
// as a number.
const migrationLock = 0x666c6f6f646d6172

// A step is one migration.
type step struct {
	version int
	name    string
	text    string
}

func steps() ([]step, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name
	if err != nil {
		return nil, err
	}
	all := make([]step, len(files))
	for i, f := range files {
		text, err := migrations.ReadFile(f)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(f, "migrations/"), ".sql")
		number, _, _ := strings.Cut(name, "_")
		v, err := strconv.Atoi(number)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("migration %s: want number %d", name, i+1)
		}
		all[i] = step{v, name, string(text)}
	}
	return all, nil
}

// migrate brings the tables up to date, each step as a whole.
func migrate(ctx context.Context, base *pgx.ConnConfig, p *primary, opts Options) error {
	ctx, cancel := context.WithTimeout(ctx, MaxTimeout)
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
	all, err := steps()
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return migrateTo(ctx, tx, opts.Schema, all) })
}

func migrateTo(ctx context.Context, tx pgx.Tx, schema string, all []step) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("wait for another node's migration: %w", err)
	}
	var there bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize()); err != nil {
			return fmt.Errorf("make schema %s: %w", schema, err)
		}
	}
	var at int
	const table = `CREATE TABLE IF NOT EXISTS migrations (version int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())`
	if err := tx.QueryRow(ctx, "SELECT to_regclass('migrations') IS NOT NULL").Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.Exec(ctx, table); err != nil {
			return err
		}
	}
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM migrations").Scan(&at); err != nil {
		return err
	}
	if at > len(all) {
		return errors.New("a newer Floodmark has changed the tables: this one does not know them, so run the newer one")
	}
	for _, m := range all[at:] {
		// Several commands in one text need the simple protocol.
		if _, err := tx.Exec(ctx, m.text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO migrations (version, name) VALUES ($1, $2)", m.version, m.name); err != nil {
			return err
		}
	}
	return nil
}
