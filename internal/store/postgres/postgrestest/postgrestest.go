// Package postgrestest has a database in PostgreSQL for tests.
package postgrestest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// DSN names a server for tests. The gate starts one with .ci/postgres.
func DSN(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv("FLOODMARK_POSTGRES_DSN")
	if dsn == "" {
		t.Skip("POSTGRESQL NOT TESTED: set FLOODMARK_POSTGRES_DSN to what «.ci/postgres start DIR» prints")
	}
	return dsn
}

// Schema returns the name of a schema of the test's own, dropped at its end.
func Schema(t testing.TB, dsn string) string {
	t.Helper()
	schema := "test_" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() {
		c := Connect(t, dsn)
		if _, err := c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return schema
}

// Connect returns a plain connection.
func Connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // the server may be gone
	return c
}

// Query returns the one value that a query yields.
func Query[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
