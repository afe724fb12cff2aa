package postgresjournal

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
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
	dsn := testDSN(t)
	schema := testSchema(t, dsn)
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
	c := connect(t, dsn)
	if n := query[int](t, c, "SELECT count(*) FROM "+schema+".once"); n != 2 {
		t.Errorf("%d rows, want 2: a step was taken twice", n)
	}
	if n := query[int](t, c, "SELECT count(*) FROM "+schema+".migrations"); n != 3 {
		t.Errorf("%d steps written down, want 3", n)
	}
	if !query[bool](t, c, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", schema+".once_n") {
		t.Error("the index is not valid")
	}
}

func TestEightNodesOpenAtOnce(t *testing.T) {
	dsn := testDSN(t)
	schema := testSchema(t, dsn)
	var nodes sync.WaitGroup
	for range 8 {
		nodes.Go(func() {
			j, err := Open(t.Context(), dsn, Options{Schema: schema, Writers: 1, Readers: 1})
			if err != nil {
				t.Error(err)
				return
			}
			j.Close()
		})
	}
	nodes.Wait()
}

// A migration that must wait for a lock gives up, so that no writer queues behind it, and is
// retried.
func TestMigrationDoesNotHoldUpWriters(t *testing.T) {
	dsn := testDSN(t)
	schema := testSchema(t, dsn)
	if err := migrated(t, dsn, schema, made(t, "CREATE TABLE busy (n int)")); err != nil {
		t.Fatal(err)
	}
	c := connect(t, dsn)
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
	other := connect(t, dsn)
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
	dsn := testDSN(t)
	older := made(t, "CREATE TABLE one (n int)")
	for what, c := range map[string]struct {
		second string
		may    bool
	}{
		"a step that the older can live with":      {"-- needs: 1\nALTER TABLE one ADD COLUMN m int", true},
		"a step that the older must not live with": {"ALTER TABLE one ADD COLUMN m int", false},
	} {
		t.Run(what, func(t *testing.T) {
			schema := testSchema(t, dsn)
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
	dsn := testDSN(t)
	schema := testSchema(t, dsn)
	open(t, dsn, Options{Schema: schema})
	c := connect(t, dsn)
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
	wantErr(t, checkAll(t.Context(), c, schema), errNewerTables)
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
