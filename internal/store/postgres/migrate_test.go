package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
)

// made makes steps out of texts.
func made(t testing.TB, texts ...string) []step {
	t.Helper()
	folder := fstest.MapFS{}
	for i, text := range texts {
		folder["migrations/000"+string(rune('1'+i))+"_made.sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	all, err := stepsIn(folder)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// migrated runs steps like a separate program.
func migrated(t testing.TB, dsn, schema string, all []step) error {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		return err
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), "SELECT set_config('search_path', $1, false)", schema); err != nil {
		return err
	}
	m := migration{c: c, schema: schema, all: all}
	return m.run(t.Context())
}

func TestEightNodesMigrateAtOnce(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	all := made(t,
		"CREATE TABLE once (n int); INSERT INTO once VALUES (1)",
		"-- one by one\nDROP INDEX CONCURRENTLY IF EXISTS once_n;\n\nCREATE INDEX CONCURRENTLY once_n ON once (n);\n",
		"INSERT INTO once VALUES (3)")
	var nodes sync.WaitGroup
	for range 8 {
		nodes.Go(func() {
			if err := migrated(t, dsn, schema, all); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	c := postgrestest.Connect(t, dsn)
	if n := postgrestest.Query[int](t, c, "SELECT count(*) FROM "+schema+".once"); n != 2 {
		t.Errorf("%d rows, want 2: a step was taken twice", n)
	}
	if n := postgrestest.Query[int](t, c, "SELECT count(*) FROM "+schema+".migrations"); n != 3 {
		t.Errorf("%d steps written down, want 3", n)
	}
	if !postgrestest.Query[bool](t, c, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", schema+".once_n") {
		t.Error("the index is not valid")
	}
}

// A migration that must wait for a lock gives up, so that no writer queues behind it, and is
// retried.
func TestMigrationDoesNotHoldUpWriters(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	if err := migrated(t, dsn, schema, made(t, "CREATE TABLE busy (n int)")); err != nil {
		t.Fatal(err)
	}
	c := postgrestest.Connect(t, dsn)
	reading, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reading.Exec(t.Context(), "SELECT * FROM "+schema+".busy"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- migrated(t, dsn, schema, made(t, "CREATE TABLE busy (n int)", "ALTER TABLE busy ADD COLUMN m int"))
	}()
	other := postgrestest.Connect(t, dsn)
	for range 5 { // each gets through, while the migration waits
		if _, err := other.Exec(t.Context(), "INSERT INTO "+schema+".busy (n) VALUES (1)"); err != nil {
			t.Fatal(err)
		}
	}
	if err := reading.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestOlderProgramOnNewerTables(t *testing.T) {
	dsn := postgrestest.DSN(t)
	older := made(t, "CREATE TABLE one (n int)")
	for what, c := range map[string]struct {
		second string
		may    bool
	}{
		"a step that the older can live with":      {"-- needs: 1\nALTER TABLE one ADD COLUMN m int", true},
		"a step that the older must not live with": {"ALTER TABLE one ADD COLUMN m int", false},
	} {
		t.Run(what, func(t *testing.T) {
			schema := postgrestest.Schema(t, dsn)
			newer := made(t, older[0].text, c.second)
			for _, all := range [][]step{older, newer, newer} {
				if err := migrated(t, dsn, schema, all); err != nil {
					t.Fatal(err)
				}
			}
			if err := migrated(t, dsn, schema, older); errors.Is(err, errNewerTables) == c.may {
				t.Errorf("the older program: %v", err)
			}
		})
	}
}

// A running node stops using the tables when a newer one changes them beyond what it supports.
func TestRunningNodeNoticesNewerTables(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	open(t, dsn, schema)
	c := postgrestest.Connect(t, dsn)
	if _, err := c.Exec(t.Context(), "SET search_path = "+schema); err != nil {
		t.Fatal(err)
	}
	if err := checkAll(t.Context(), c, schema); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "INSERT INTO migrations (version, name, needs) VALUES (900, 'harmless', 1)"); err != nil {
		t.Fatal(err)
	}
	if err := checkAll(t.Context(), c, schema); err != nil {
		t.Errorf("a step that needs nothing new: %v", err)
	}
	if _, err := c.Exec(t.Context(), "INSERT INTO migrations (version, name, needs) VALUES (901, 'not harmless', 901)"); err != nil {
		t.Fatal(err)
	}
	if err := checkAll(t.Context(), c, schema); !errors.Is(err, errNewerTables) {
		t.Fatal(err)
	}
}

func TestStepsAreNumbered(t *testing.T) {
	for text, folder := range map[string]fstest.MapFS{
		"want number 1":          {"migrations/0002_x.sql": {}},
		"it cannot need step":    {"migrations/0001_x.sql": {Data: []byte("-- needs: 2\n")}},
		"it cannot need step \"": {"migrations/0001_x.sql": {Data: []byte("-- needs: none\n")}},
	} {
		if _, err := stepsIn(folder); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	if all, err := steps(); err != nil || len(all) == 0 {
		t.Errorf("our own: %v", err)
	}
}

// Roles from before months need not be created again.
func TestMonthsKeepRights(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	all, err := steps()
	if err != nil {
		t.Fatal(err)
	}
	if err := migrated(t, dsn, schema, all[:7]); err != nil {
		t.Fatal(err)
	}
	c := postgrestest.Connect(t, dsn)
	run := func(sql string) {
		t.Helper()
		if _, err := c.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	}
	writer, eraser := schema+"_w", schema+"_e"
	run("SET search_path = " + schema + "; CREATE ROLE " + writer + "; CREATE ROLE " + eraser)
	t.Cleanup(func() { run("DROP OWNED BY " + writer + ", " + eraser + "; DROP ROLE " + writer + ", " + eraser) })
	run("GRANT SELECT, INSERT ON facts TO " + writer + "; GRANT SELECT ON facts TO " + eraser + "; GRANT EXECUTE ON FUNCTION sweep(bytea, bytea, bigint) TO " + eraser)
	if err := migrated(t, dsn, schema, all); err != nil {
		t.Fatal(err)
	}
	run("SELECT make_months()")
	here := postgrestest.Query[string](t, c, "SELECT 'facts_' || month_of(now())")
	for what, want := range map[string]bool{
		"has_table_privilege('" + writer + "', 'births', 'INSERT')": true, "has_table_privilege('" + writer + "', 'births', 'DELETE')": false,
		"has_table_privilege('" + writer + "', '" + here + "', 'INSERT')": true, "has_table_privilege('" + writer + "', '" + here + "', 'UPDATE')": false,
		"has_table_privilege('" + eraser + "', '" + here + "', 'INSERT')": false, "has_table_privilege('" + eraser + "', '" + here + "', 'SELECT')": true,
		"has_function_privilege('" + writer + "', 'make_months()', 'EXECUTE')": true, "has_function_privilege('" + writer + "', 'drop_month(int)', 'EXECUTE')": false,
		"has_function_privilege('" + eraser + "', 'drop_month(int)', 'EXECUTE')": true,
	} {
		if postgrestest.Query[bool](t, c, "SELECT "+what) != want {
			t.Errorf("%s is not %v", what, want)
		}
	}
}
