package postgresjournal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// planted is in every row of the attacked tenant.
const planted = "PLANTED-OF-B"

// plant writes rows of two tenants and has the server analyse them, as it does by itself after a
// while.
func plant(t *testing.T, g guarded) *Journal {
	t.Helper()
	j := open(t, g.eraser, Options{Schema: g.schema})
	for tenant, word := range map[string]string{"a": "own", "b": planted} {
		for i := range 3 {
			s := journal.Session{Tenant: tenant, ID: floodmark.SessionID(fmt.Sprint(word, i))}
			r := record(t, s, journal.Link{}, 2, word)
			r.Snapshot = []byte(word)
			all := batch(r)
			all.Contents = []journal.Content{{Tenant: tenant, Digest: floodmark.DigestOf(fmt.Sprint(word, i)), Postings: []byte(word)}}
			all.Artifacts = []journal.Artifact{{Tenant: tenant, Key: floodmark.DigestOf(fmt.Sprint(word, i)), Session: s.ID, Seq: 2, Body: []byte(word)}}
			if err := j.Append(t.Context(), all); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := g.as(t, postgrestest.DSN(t))
	for _, table := range guardedTables(t, g) {
		if _, err := c.Exec(t.Context(), "ANALYZE "+table); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// guardedTables are those with rows of tenants, also each month of facts by its
// own name.
func guardedTables(t *testing.T, g guarded) []string {
	t.Helper()
	months := postgrestest.Query[string](t, g.as(t, postgrestest.DSN(t)), "SELECT string_agg(c.relname, ',') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'facts'::regclass")
	return append(strings.Split(months, ","), "facts", "births", "snapshots", "contents", "artifacts", "tombstones")
}

// ofB is all data of the other tenant, as a superuser sees it.
func ofB(t *testing.T, g guarded) string {
	t.Helper()
	c, all := g.as(t, postgrestest.DSN(t)), ""
	for _, table := range guardedTables(t, g) {
		all += postgrestest.Query[string](t, c, "SELECT coalesce(string_agg(x::text, E'\n' ORDER BY x::text), '') FROM "+table+" x WHERE tenant = 'b'")
	}
	return all
}

// said returns all output of a statement and its error.
func said(t *testing.T, c *pgx.Conn, sql string) (string, error) {
	t.Helper()
	var b bytes.Buffer
	if strings.HasPrefix(sql, "COPY") && strings.HasSuffix(sql, "STDOUT") {
		_, err := c.PgConn().CopyTo(t.Context(), &b, sql)
		return b.String(), err
	}
	results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			for _, cell := range row {
				b.Write(append(cell, '\n'))
			}
		}
	}
	return b.String(), err
}

// A login that acts for one tenant learns nothing of another's rows: not from the tables, not from
// the server's statistics, not through functions of its own that see rows before the policies
// filter them.
func TestLoginsLearnNothingOfOthers(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	plant(t, g)
	var statements []string
	for _, table := range guardedTables(t, g) {
		statements = append(statements,
			"SELECT * FROM "+table, "SELECT * FROM "+table+" WHERE tenant = 'b'", "SELECT * FROM ONLY "+table+" x", "TABLE "+table,
			"SELECT x::text FROM "+table+" x WHERE true OR tenant = 'b'", "COPY "+table+" TO STDOUT", "COPY (SELECT * FROM "+table+") TO STDOUT",
			"SELECT query_to_xml('SELECT * FROM "+table+"', true, false, '')", "SELECT table_to_xml('"+table+"', true, false, '')",
			"SELECT * FROM pg_stats WHERE tablename = '"+table+"'", "SELECT * FROM pg_statistic WHERE starelid = '"+table+"'::regclass",
			"SET row_security = off; SELECT * FROM "+table, "CREATE TEMP VIEW v_"+table+" AS SELECT * FROM "+table+"; SELECT * FROM v_"+table,
			"SELECT * FROM "+table+" WHERE pg_temp.leak(tenant)", "SELECT * FROM "+table+" x WHERE pg_temp.peek(x::text)",
			"SELECT 1 / (CASE WHEN tenant = 'b' THEN 0 ELSE 1 END) FROM "+table,
			"BEGIN; DECLARE k CURSOR FOR SELECT * FROM "+table+"; FETCH ALL FROM k; COMMIT",
			"PREPARE p_"+table+" AS SELECT * FROM "+table+"; EXECUTE p_"+table,
		)
	}
	statements = append(statements,
		"SELECT schema_to_xml('"+g.schema+"', true, false, '')", "SELECT * FROM pg_stats_ext_exprs", "SELECT lo_get(oid) FROM pg_largeobject_metadata",
		"SELECT * FROM pg_largeobject", "SELECT query FROM pg_stat_activity", "SELECT * FROM pg_prepared_statements", "SELECT * FROM pg_cursors",
		"SELECT * FROM pg_prepared_xacts", "SELECT pg_read_file('pg_hba.conf')", "SELECT pg_read_binary_file('global/pg_control')", "SELECT * FROM pg_authid",
		"SELECT * FROM pg_hba_file_rules", "SELECT pg_ls_dir('.')", "SELECT lo_import('/etc/passwd')",
	)
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser, "reader": g.reader} {
		c := g.as(t, dsn, "a")
		for _, sql := range []string{
			"CREATE FUNCTION pg_temp.leak(of bytea) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$BEGIN IF of = 'b' THEN RAISE EXCEPTION '" + planted + "'; END IF; RETURN true; END$$",
			"CREATE FUNCTION pg_temp.peek(of text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$BEGIN IF strpos(of, '" + hex.EncodeToString([]byte(planted)) + "') > 0 THEN RAISE EXCEPTION '" + planted + "'; END IF; RETURN true; END$$",
		} {
			if _, err := said(t, c, sql); err != nil {
				t.Fatal(err)
			}
		}
		own := 0
		for _, sql := range statements {
			text, err := said(t, c, sql)
			low := strings.ToLower(text + fmt.Sprint(err))
			for _, word := range []string{planted, hex.EncodeToString([]byte(planted)), "division by zero", "root:"} {
				if strings.Contains(low, strings.ToLower(word)) {
					t.Errorf("%s: %s: %.200s %v", who, sql, text, err)
				}
			}
			if strings.Contains(low, hex.EncodeToString([]byte("own"))) {
				own++
			}
			if _, err := said(t, c, "ROLLBACK; RESET row_security"); err != nil {
				t.Fatal(err)
			}
		}
		if own < 10 {
			t.Errorf("%s: only %d statements gave rows of its own: the attempts try nothing", who, own)
		}
	}
}

// changes are statements that must fail for every role.
func changes(schema string, r Roles) []string {
	zero := "decode(repeat('00', 32), 'hex')"
	return []string{
		// rows of another
		"INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ('b', 's', 1, 1, " + zero + ", 'x', '')",
		"INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ('b', 's', 1, 1, " + zero + ", 'x', '') ON CONFLICT DO NOTHING",
		"INSERT INTO snapshots VALUES ('b', '" + planted + "0', 9, " + zero + ", 'x') ON CONFLICT (tenant, session) DO UPDATE SET body = 'x'",
		"INSERT INTO artifacts (tenant, key, session, seq, body) SELECT 'b', key, session, seq, 'x' FROM artifacts ON CONFLICT (tenant, key) DO UPDATE SET body = 'x'",
		"INSERT INTO contents VALUES ('b', " + zero + ", '')", "UPDATE snapshots SET body = 'x' WHERE tenant = 'b'", "UPDATE snapshots SET tenant = 'b'",
		"UPDATE artifacts SET tenant = 'b'", "DELETE FROM artifacts WHERE tenant = 'b'", "UPDATE facts SET body = ''", "DELETE FROM facts",
		"MERGE INTO artifacts USING (SELECT 1) AS one ON tenant = 'b' WHEN MATCHED THEN DELETE",
		"INSERT INTO tombstones (tenant, session, seq, hash, trust, secrecy, at, why, note) VALUES ('b', '" + planted + "0', 2, " + zero + ", 'x', 'x', 1, 'x', '')",
		"SELECT sweep('b', '" + planted + "0', 2)", "SELECT drop_month(month_of(now()))", "SELECT grant_months()", "DELETE FROM births", "UPDATE births SET month = 0",
		"INSERT INTO births VALUES ('b', 's', 0)", "COPY facts FROM STDIN",
		"BEGIN; LOCK TABLE facts IN ACCESS EXCLUSIVE MODE; COMMIT", "SELECT * FROM facts FOR UPDATE",
		// the tables themselves
		"TRUNCATE facts", "TRUNCATE snapshots, artifacts, contents", "DROP TABLE facts", "DROP TABLE artifacts CASCADE", "DROP SCHEMA " + schema + " CASCADE",
		"ALTER TABLE facts DISABLE TRIGGER ALL", "ALTER TABLE facts NO FORCE ROW LEVEL SECURITY", "ALTER TABLE artifacts DISABLE ROW LEVEL SECURITY",
		"ALTER TABLE facts SET UNLOGGED", "ALTER TABLE facts OWNER TO CURRENT_USER", "ALTER TABLE facts ALTER COLUMN body SET DEFAULT ''",
		"DROP POLICY reads ON facts", "CREATE POLICY mine ON facts USING (true)", "ALTER POLICY reads ON facts USING (true)", "DROP TRIGGER facts_stay ON facts",
		"CREATE TRIGGER mine BEFORE INSERT ON facts FOR EACH ROW EXECUTE FUNCTION facts_stay()", "CREATE RULE mine AS ON INSERT TO facts DO INSTEAD NOTHING",
		"CREATE INDEX ON facts (kind)", "CREATE STATISTICS mine ON tenant, session FROM facts", "REINDEX TABLE facts", "CLUSTER facts USING facts_pkey",
		"CREATE TABLE mine (LIKE facts)", "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE OPERATOR = (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = byteaeq)",
		"CREATE OR REPLACE FUNCTION sweep(bytea, bytea, bigint) RETURNS void LANGUAGE sql AS ''", "ALTER FUNCTION facts_stay() OWNER TO CURRENT_USER",
		"DROP FUNCTION facts_stay() CASCADE", "ALTER FUNCTION sweep(bytea, bytea, bigint) SET search_path = pg_temp", "ALTER SCHEMA " + schema + " RENAME TO gone",
		"CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE EXTENSION dblink", "CREATE SCHEMA mine", "CREATE EVENT TRIGGER mine ON ddl_command_start EXECUTE FUNCTION facts_stay()",
		"UPDATE migrations SET version = 1", "INSERT INTO migrations VALUES (999, 'x')", "UPDATE placement SET first = 1", "DELETE FROM placement",
		"SELECT setval('written', 1)", "ALTER SEQUENCE written RESTART", "SELECT reach(9223372036854775807)", "SELECT reach(" + nowSQL + " + 4096::bigint * 1000000 * 172800)",
		// other rights
		"SET ROLE " + r.Owner, "SET SESSION AUTHORIZATION postgres", "SET session_replication_role = replica", "ALTER ROLE " + r.Owner + " LOGIN", "CREATE ROLE mine SUPERUSER",
		"GRANT " + r.Owner + " TO CURRENT_USER", "GRANT pg_read_all_data TO CURRENT_USER", "ALTER ROLE CURRENT_USER BYPASSRLS", "ALTER SYSTEM SET fsync = off",
		"ALTER DATABASE postgres SET floodmark.tenants = '*'", "ALTER DEFAULT PRIVILEGES FOR ROLE " + r.Owner + " GRANT ALL ON TABLES TO PUBLIC",
		"COPY facts TO PROGRAM 'true'", "COPY artifacts FROM PROGRAM 'true'", "COPY facts TO '/tmp/floodmark-stolen'", "SELECT lo_export(1, '/tmp/floodmark-stolen')",
		"SELECT pg_reload_conf()", "SELECT pg_switch_wal()", "SELECT pg_promote()", "SELECT pg_create_restore_point('x')", "LOAD '/tmp/x.so'",
	}
}

// A login changes nothing of another tenant, by any statement.
func TestLoginsChangeNothingOfOthers(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	j := plant(t, g)
	r := RolesOf(g.schema)
	before := ofB(t, g)
	for who, dsn := range map[string]string{"writer": g.writer, "eraser": g.eraser, "reader": g.reader} {
		c := g.as(t, dsn, "a")
		list := changes(g.schema, r)
		for _, table := range guardedTables(t, g)[:2] { // months
			list = append(list, "INSERT INTO "+table+" (tenant, session, seq, at, hash, kind, body) VALUES ('b', 's', 1, 1, decode(repeat('00', 32), 'hex'), 'x', '')",
				"UPDATE "+table+" SET body = ''", "DELETE FROM "+table, "TRUNCATE "+table, "DROP TABLE "+table, "ALTER TABLE "+table+" NO INHERIT facts")
		}
		for _, sql := range list {
			results, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
			changed := int64(0)
			for _, one := range results {
				if !one.CommandTag.Select() {
					changed += one.CommandTag.RowsAffected()
				}
			}
			harmless := strings.HasPrefix(sql, "SELECT sweep('b'") || strings.Contains(sql, "tenant = 'b'") // matches no rows, which is fine
			if err == nil && (!harmless || changed > 0) {
				t.Errorf("%s: %s: %d rows, no error", who, sql, changed)
			}
			if _, err := said(t, c, "ROLLBACK"); err != nil {
				t.Fatal(err)
			}
		}
		// A right that may not be passed on is not, with a warning.
		if _, err := said(t, c, "GRANT ALL ON facts TO PUBLIC; GRANT SELECT ON contents TO "+r.Reader); err != nil && !postgres.IsDenied(err) {
			t.Error(err)
		}
	}
	if _, err := said(t, g.as(t, g.reader, "a"), "SELECT * FROM contents"); !postgres.IsDenied(err) {
		t.Errorf("a reader was given more: %v", err)
	}
	if ofB(t, g) != before {
		t.Error("rows of the other tenant have changed")
	}
	// Everything still works for both.
	for _, tenant := range []string{"a", "b"} {
		s := journal.Session{Tenant: tenant, ID: "after"}
		appendOK(t, j, record(t, s, journal.Link{}, 1, "x"))
	}
}

// One login can neither cancel another's statements nor see them.
func TestLoginsLeaveEachOtherAlone(t *testing.T) {
	g := newGuarded(t, newSchema(t))
	writer := g.as(t, g.writer, "b")
	if _, err := said(t, writer, "SELECT '"+planted+"'"); err != nil {
		t.Fatal(err)
	}
	pid := writer.PgConn().PID()
	c := g.as(t, g.reader, "a")
	for _, sql := range []string{fmt.Sprintf("SELECT pg_terminate_backend(%d)", pid), fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid)} {
		if _, err := said(t, c, sql); !postgres.IsDenied(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if text, err := said(t, c, fmt.Sprintf("SELECT query FROM pg_stat_activity WHERE pid = %d", pid)); err != nil || strings.Contains(text, planted) {
		t.Errorf("%s, %v", text, err)
	}
}
