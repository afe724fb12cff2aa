package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/cli"
)

// TestJournalInit prepares a real database, and then writes to it as a user who may do nothing
// else. The gate starts a server for it.
func TestJournalInit(t *testing.T) {
	dsn := os.Getenv("FLOODMARK_POSTGRES_DSN")
	if dsn == "" {
		t.Skip("POSTGRESQL NOT TESTED: set FLOODMARK_POSTGRES_DSN to what «.ci/postgres start DIR» prints")
	}
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	const roles = "floodmark_owner, floodmark_writer, floodmark_eraser, floodmark_reader"
	try := func(sql string) {
		t.Helper()
		if _, err := c.Exec(context.Background(), sql); err != nil {
			t.Error(err)
		}
	}
	try("DROP DATABASE IF EXISTS fm_init WITH (FORCE)")
	try("CREATE DATABASE fm_init TEMPLATE template0")
	month := thisMonth(t, c)
	t.Cleanup(func() {
		try("DROP DATABASE fm_init WITH (FORCE)")
		try("DROP ROLE " + roles)
	})
	config := c.Config()
	database := (&url.URL{
		Scheme: "postgres", User: url.User("nobody"), Path: "/fm_init",
		RawQuery: url.Values{"host": {config.Host}, "port": {"5432"}}.Encode(),
	}).String()
	for range 2 { // a second time does no harm
		var out bytes.Buffer
		home := t.TempDir()
		console := &cli.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string {
			return map[string]string{"HOME": home}[name]
		}, Dir: home, Build: testBuild(), Shipped: shippedOnce}
		args := []string{"journal", "init", "--journal", database, "--user", config.User, "--roles"}
		if code := run(t.Context(), console, args); code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, &out)
		}
		if !strings.Contains(out.String(), "1 database is ready") || !strings.Contains(out.String(), "GRANT floodmark_writer") {
			t.Error(&out)
		}
	}
	var told bytes.Buffer
	again := &cli.Console{Stdin: strings.NewReader(""), Stdout: &told, Stderr: &told, Getenv: func(string) string { return "" }, Dir: t.TempDir(), Build: testBuild(), Shipped: shippedOnce}
	if code := run(t.Context(), again, []string{"journal", "init", "--journal", database, "--user", config.User, "--output", "json", "--dir", t.TempDir()}); code != cli.ExitOK || !strings.Contains(told.String(), `"databases": 1`) {
		t.Errorf("exit code %d: %s", code, &told)
	}
	listMonths(t, database, config.User, month, thisMonth(t, c))
	there, err := pgx.Connect(t.Context(), strings.Replace(database, "nobody@", config.User+"@", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close(context.Background())
	var owner string
	if err := there.QueryRow(t.Context(), "SELECT tableowner FROM pg_tables WHERE schemaname = 'floodmark' AND tablename = 'facts'").Scan(&owner); err != nil || owner != "floodmark_owner" {
		t.Errorf("facts belong to %q, %v", owner, err)
	}
}

// thisMonth returns the month by the clock of the database, which makes the months.
func thisMonth(t *testing.T, c *pgx.Conn) (month string) {
	t.Helper()
	if err := c.QueryRow(t.Context(), "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')").Scan(&month); err != nil {
		t.Fatal(err)
	}
	return month
}

// listMonths checks what «journal months» lists for a database that was prepared in one of the
// months.
func listMonths(t *testing.T, database, user string, months ...string) {
	t.Helper()
	var out bytes.Buffer
	home := t.TempDir()
	console := &cli.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return home }, Dir: home, Build: testBuild(), Shipped: shippedOnce}
	if code := run(t.Context(), console, []string{"journal", "months", "--journal", database, "--user", user}); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], "before ") || !slices.Contains(months, strings.Fields(lines[2])[0]) {
		t.Error(&out)
	}
}

// If there is no such database or user, the error says what to do.
func TestJournalInitElsewhere(t *testing.T) {
	dsn := os.Getenv("FLOODMARK_POSTGRES_DSN")
	if dsn == "" {
		t.Skip("POSTGRESQL NOT TESTED: set FLOODMARK_POSTGRES_DSN to what «.ci/postgres start DIR» prints")
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	at := func(user, database string) string {
		return (&url.URL{
			Scheme: "postgres", User: url.User(user), Path: "/" + database, RawQuery: url.Values{"host": {config.Host}, "port": {"5432"}}.Encode(),
		}).String()
	}
	for database, hint := range map[string]string{
		at(config.User, "fm_nowhere"): "make the database first", at("fm_nobody", config.Database): "see who may log in there",
	} {
		var out bytes.Buffer
		home := t.TempDir()
		console := &cli.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string {
			return map[string]string{"HOME": home}[name]
		}, Dir: home, Build: testBuild(), Shipped: shippedOnce}
		code := run(t.Context(), console, []string{"journal", "init", "--journal", database})
		if code != cli.ExitUsage || !strings.Contains(out.String(), "\n  "+hint) || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("%s: exit code %d: %s", database, code, &out)
		}
	}
}
