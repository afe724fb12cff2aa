package postgresjournal

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// A guarded is a journal with roles, and one login for each.
type guarded struct {
	schema                        string
	owner, writer, eraser, reader string // DSNs
}

func newGuarded(t testing.TB, schema string) guarded {
	t.Helper()
	dsn := postgrestest.DSN(t)
	if err := Init(t.Context(), []Range{{DSN: dsn, Last: Shards - 1}}, Options{Schema: schema}, true); err != nil {
		t.Fatal(err)
	}
	r, c := RolesOf(schema), postgrestest.Connect(t, dsn)
	login := func(name string, roles ...string) string {
		name = schema + "_" + name
		for _, sql := range []string{"CREATE ROLE " + name + " LOGIN", "GRANT " + strings.Join(roles, ", ") + " TO " + name} {
			if _, err := c.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		return dsn + " user=" + name
	}
	t.Cleanup(func() {
		c := postgrestest.Connect(t, dsn)
		names := []string{r.Owner, r.Writer, r.Eraser, r.Reader}
		for _, name := range []string{"o", "w", "e", "r"} {
			names = append(names, schema+"_"+name)
		}
		for _, sql := range []string{"DROP SCHEMA IF EXISTS " + schema + " CASCADE", "DROP OWNED BY " + strings.Join(names, ", "), "DROP ROLE " + strings.Join(names, ", ")} {
			if _, err := c.Exec(context.Background(), sql); err != nil {
				t.Error(err)
			}
		}
	})
	return guarded{schema, login("o", r.Owner), login("w", r.Writer), login("e", r.Writer, r.Eraser), login("r", r.Reader)}
}

// newSchema returns an unused name.
func newSchema(t testing.TB) string {
	return "guard_" + floodmark.DigestOf(t.Name()+postgrestest.Schema(t, postgrestest.DSN(t))).Short()
}

// as connects with a login, for tenants.
func (g guarded) as(t testing.TB, dsn string, tenants ...string) *pgx.Conn {
	t.Helper()
	c := postgrestest.Connect(t, dsn)
	if _, err := c.Exec(t.Context(), "SELECT set_config('search_path', $1, false), set_config('floodmark.tenants', $2, false)", g.schema, postgres.TenantList(tenants...)); err != nil {
		t.Fatal(err)
	}
	return c
}

// The same suite, as a monitor that has the rights it needs and no more.
func TestJournalWithRoles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a while")
	}
	places := map[journal.Journal]guarded{}
	again := func(t *testing.T, g guarded) journal.Journal {
		j, err := Open(t.Context(), g.eraser, Options{Schema: g.schema, Timeout: busyTimeout})
		if err != nil {
			t.Fatal(err)
		}
		places[j] = g
		return j
	}
	journaltest.RunWith(t, journaltest.Options{
		Open: func(t *testing.T) journal.Journal { return again(t, newGuarded(t, newSchema(t))) },
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			return again(t, places[j])
		},
	})
}

func TestFactsCannotBeChanged(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.eraser, Options{Schema: g.schema})
	s := session("s")
	one := record(t, s, journal.Link{}, 3, "one")
	appendOK(t, j, one)
	statements := []string{
		"UPDATE facts SET kind = 'x'", "UPDATE facts SET body = '' WHERE seq = 1", "DELETE FROM facts", "DELETE FROM facts WHERE seq = 3", "TRUNCATE facts",
		"UPDATE tombstones SET seq = seq", "DELETE FROM tombstones", "TRUNCATE tombstones",
	}
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser, "reader": g.reader, "owner": g.owner, "superuser": postgrestest.DSN(t)} {
		c := g.as(t, dsn, s.Tenant)
		for _, sql := range statements {
			if strings.HasPrefix(sql, "UPDATE tombstones") && (who == "eraser" || who == "owner" || who == "superuser") {
				continue // setting one anew is erasing; its note must be signed
			}
			if tag, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) && tag.RowsAffected() > 0 || err == nil && !strings.HasPrefix(sql, "UPDATE") {
				t.Errorf("%s: %s: %v, %v", who, sql, tag, err)
			}
		}
	}
	// No role gives itself more rights, or creates objects.
	for _, dsn := range []string{g.writer, g.eraser, g.reader} {
		c := g.as(t, dsn, s.Tenant)
		for _, sql := range []string{
			"ALTER TABLE facts DISABLE TRIGGER ALL", "ALTER TABLE facts DISABLE ROW LEVEL SECURITY", "DROP TABLE facts", "CREATE TABLE mine (n int)",
			"SELECT setval('written', 1)", "UPDATE migrations SET version = 1", "UPDATE placement SET first = 1", "SET ROLE " + RolesOf(g.schema).Owner,
			"SET session_replication_role = replica", "CREATE OR REPLACE FUNCTION tenants() RETURNS bytea[] LANGUAGE sql AS 'SELECT NULL::bytea[]'",
		} {
			if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
				t.Errorf("%s: %s: %v", dsn, sql, err)
			}
		}
	}
	if diff := len(readAll(t, j, s, journal.Link{})); diff != 3 {
		t.Errorf("%d entries", diff)
	}
}

func TestErasingNeedsItsRole(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	writer := open(t, g.writer, Options{Schema: g.schema})
	s := session("s")
	one := record(t, s, journal.Link{}, 3, "one")
	appendOK(t, writer, one)
	stone := journal.Tombstone{Session: s, Link: one.Last(), At: 1, Why: "test", Note: []byte("note")}
	if err := writer.Erase(t.Context(), stone); !postgres.IsDenied(err) || !strings.Contains(err.Error(), "_eraser") {
		t.Errorf("a writer erased: %v", err)
	}
	if _, err := g.as(t, g.writer, s.Tenant).Exec(t.Context(), "SELECT sweep($1, $2, 3)", []byte(s.Tenant), []byte(s.ID)); !postgres.IsDenied(err) {
		t.Errorf("a writer swept: %v", err)
	}
	// The eraser cannot sweep without a tombstone.
	if _, err := g.as(t, g.eraser, s.Tenant).Exec(t.Context(), "SELECT sweep($1, $2, 3)", []byte(s.Tenant), []byte(s.ID)); !postgres.IsDenied(err) {
		t.Errorf("swept without a tombstone: %v", err)
	}
	// Nor with a tombstone of their own making, in a table that hides ours.
	own := g.as(t, g.eraser, s.Tenant)
	for _, sql := range []string{
		"CREATE TEMPORARY TABLE tombstones (LIKE " + g.schema + ".tombstones)", "GRANT ALL ON pg_temp.tombstones TO PUBLIC",
		"INSERT INTO pg_temp.tombstones VALUES ('" + s.Tenant + "', '" + string(s.ID) + "', 3, '', '', '', 1, '', '', 1, false, 0)",
	} {
		if _, err := own.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := own.Exec(t.Context(), "SELECT "+g.schema+".sweep($1, $2, 3)", []byte(s.Tenant), []byte(s.ID)); !postgres.IsDenied(err) {
		t.Errorf("swept with a tombstone in a table of their own: %v", err)
	}
	eraser := open(t, g.eraser, Options{Schema: g.schema})
	if err := eraser.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	if n := postgrestest.Query[int](t, g.as(t, postgrestest.DSN(t)), "SELECT count(*) FROM facts"); n != 0 {
		t.Errorf("%d facts are left", n)
	}
}

// From the side of the database: who acts for one tenant sees and writes nothing
// of another, also with a statement that does not ask for the tenant.
func TestTenantsAreApart(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.writer, Options{Schema: g.schema})
	a, b := journal.Session{Tenant: "a", ID: "s"}, journal.Session{Tenant: "b", ID: "s"}
	for _, s := range []journal.Session{a, b} {
		r := record(t, s, journal.Link{}, 2, "x")
		r.Snapshot = []byte("snapshot")
		all := batch(r)
		all.Contents = []journal.Content{{Tenant: s.Tenant, Digest: floodmark.DigestOf("c"), Postings: []byte("p")}}
		all.Artifacts = []journal.Artifact{{Tenant: s.Tenant, Key: floodmark.DigestOf("k"), Session: s.ID, Seq: 2, Body: []byte("w")}}
		if err := j.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	tables := []string{"facts", "snapshots", "contents", "artifacts"}
	for who, want := range map[string]int{"": 0, "x61": 1, "x62": 1, "x61,x62": 2, "x63": 0, "x": 0, "61": 0} {
		c := g.as(t, g.writer)
		if _, err := c.Exec(t.Context(), "SELECT set_config('floodmark.tenants', $1, false)", who); err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if n := postgrestest.Query[int](t, c, "SELECT count(DISTINCT tenant) FROM "+table); n != want {
				t.Errorf("as %q: %d tenants in %s, want %d", who, n, table, want)
			}
		}
	}
	c := g.as(t, g.writer, "a")
	for _, sql := range []string{
		"INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ('b', 's', 3, 1, decode(repeat('00', 32), 'hex'), 'x', '')",
		"INSERT INTO contents (tenant, digest, postings) VALUES ('b', decode(repeat('00', 32), 'hex'), '')",
		"INSERT INTO artifacts (tenant, key, session, seq, body) VALUES ('b', decode(repeat('00', 32), 'hex'), 's', 1, '')",
		"UPDATE artifacts SET tenant = 'b'",
		"UPDATE snapshots SET tenant = 'b'",
	} {
		if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{"DELETE FROM artifacts WHERE tenant = 'b'", "UPDATE snapshots SET seq = 99 WHERE tenant = 'b'"} {
		if tag, err := c.Exec(t.Context(), sql); err != nil || tag.RowsAffected() != 0 {
			t.Errorf("%s: %v, %v", sql, tag, err)
		}
	}
}

// A read of all tenants can only read, and not everything.
func TestAllTenantsAreForReading(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.writer, Options{Schema: g.schema})
	for _, tenant := range []string{"a", "b"} {
		all := batch(record(t, journal.Session{Tenant: tenant, ID: "s"}, journal.Link{}, 1, "x"))
		all.Contents = []journal.Content{{Tenant: tenant, Digest: floodmark.DigestOf("c"), Postings: []byte("p")}}
		if err := j.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	c := g.as(t, g.writer)
	if _, err := c.Exec(t.Context(), "SET floodmark.tenants = '*'"); err != nil {
		t.Fatal(err)
	}
	if n := postgrestest.Query[int](t, c, "SELECT count(DISTINCT tenant) FROM facts"); n != 2 {
		t.Errorf("%d tenants, want both", n)
	}
	for i, sql := range []string{
		"INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ('a', 's', 3, 1, decode(repeat('00', 32), 'hex'), 'x', '')",
		"INSERT INTO contents (tenant, digest, postings) VALUES ('a', decode(repeat('00', 32), 'hex'), '')",
	} {
		if _, err := c.Exec(t.Context(), sql); !postgres.IsDenied(err) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := postgrestest.Query[int](t, c, "SELECT count(*) FROM contents"); n != 0 {
		t.Errorf("%d contents, want none", n)
	}
}

// Batches of several tenants share a commit, each in its own name.
func TestTenantsShareACommit(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := open(t, g.writer, Options{Schema: g.schema, Writers: 1})
	errs := make(chan error)
	for i := range 40 {
		go func() {
			s := journal.Session{Tenant: fmt.Sprint("t", i%7), ID: floodmark.SessionID(fmt.Sprint("s", i))}
			errs <- j.Append(t.Context(), batch(record(t, s, journal.Link{}, 1, "x")))
		}()
	}
	for range 40 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for i := range 40 {
		s := journal.Session{Tenant: fmt.Sprint("t", i%7), ID: floodmark.SessionID(fmt.Sprint("s", i))}
		if n := len(readAll(t, j, s, journal.Link{})); n != 1 {
			t.Errorf("%s: %d entries", s, n)
		}
	}
}

// A writer finds tables that are too old, and says who must do what.
func TestWriterDoesNotMigrate(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	c := g.as(t, postgrestest.DSN(t))
	if _, err := c.Exec(t.Context(), "DELETE FROM migrations WHERE version > 3"); err != nil {
		t.Fatal(err)
	}
	j, err := Open(t.Context(), g.writer, Options{Schema: g.schema})
	if err == nil {
		j.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "journal init") {
		t.Errorf("%v", err)
	}
}

func TestRolesText(t *testing.T) {
	text := RolesSQL(`odd "name'`)
	if strings.Contains(text, "$owner$") || strings.Contains(text, "$'") || !strings.Contains(text, `"odd ""name'_writer"`) || !strings.Contains(text, `'odd "name''_owner'`) {
		t.Error(text)
	}
}
