package postgresjournal

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

//go:embed roles.sql
var rolesText string

// Roles are the database roles of a journal. They cannot log in: they are granted to roles that
// can.
type Roles struct{ Owner, Writer, Eraser, Reader string }

// RolesOf returns the roles for a schema, [DefaultSchema] if it is empty.
func RolesOf(schema string) Roles {
	if schema == "" {
		schema = DefaultSchema
	}
	return Roles{schema + "_owner", schema + "_writer", schema + "_eraser", schema + "_reader"}
}

// RolesSQL creates the roles and grants their rights.
func RolesSQL(schema string) string {
	if schema == "" {
		schema = DefaultSchema
	}
	r := RolesOf(schema)
	var pairs []string
	for word, name := range map[string]string{"schema": schema, "owner": r.Owner, "writer": r.Writer, "eraser": r.Eraser, "reader": r.Reader} {
		pairs = append(pairs, "$"+word+"$", pgx.Identifier{name}.Sanitize(), "$'"+word+"'$", "'"+strings.ReplaceAll(name, "'", "''")+"'")
	}
	return strings.NewReplacer(pairs...).Replace(rolesText)
}

// Init creates the tables or migrates them, and records which shards each database holds. With
// roles it also creates the roles; the login then needs the right to create roles and a schema.
func Init(ctx context.Context, ranges []Range, opts Options, roles bool) error {
	if err := initialise(ctx, ranges, opts, roles); err != nil {
		return fmt.Errorf("prepare the journal in PostgreSQL: %w", err)
	}
	return nil
}

func initialise(ctx context.Context, ranges []Range, opts Options, roles bool) error {
	j, err := openAll(ctx, ranges, opts)
	if err != nil {
		return err
	}
	if roles {
		err = j.each(func(_ int, s *shard) error {
			return s.Write(ctx, func(c *pgx.Conn) error { return s.grant(ctx, c) })
		})
	}
	return errors.Join(err, j.Close())
}

func (s *shard) grant(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, RolesSQL(s.Schema()), pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		return nil
	}
	if postgres.IsDenied(err) {
		return fmt.Errorf("make the roles (connect as somebody with CREATEROLE who owns the tables, or run the text of «floodmark journal init --print»): %w", err)
	}
	return fmt.Errorf("make the roles: %w", err)
}
