package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestStatementsThatOnlyRead(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM users": true,
		"select id, name from users where name = 'it''s; drop' limit 5;":  true,
		"SELECT count(*) FROM a JOIN b ON a.id = b.id WHERE a.x IN (1,2)": true,
		"WITH t AS (SELECT 1 AS x) SELECT x FROM t":                       true,
		"SHOW search_path":                       true,
		"EXPLAIN ANALYZE SELECT 1":               true,
		"  SELECT\n1 ":                           true,
		"SELECT data->>'x' FROM t WHERE id = $1": true,
		"SELECT a / b - c, d::text, $0, $9":      true,
		"SELECT '', \"\", 1":                     true,
		"SELECT ((b)) FROM t":                    true,

		"TABLE t UNION SELECT 1":         false,
		"WITH t AS (VALUES (1)) TABLE t": false,
		"(SELECT 1)":                     false,
		"SHOW evil()":                    false,
		"SELECT $/":                      false,
		"SELECT $:":                      false,

		"COMMIT; DROP TABLE users; --":                              false,
		"SELECT 1; DROP TABLE users":                                false,
		"SELECT 1 DROP TABLE users":                                 false,
		"DROP TABLE users":                                          false,
		"WITH t AS (DELETE FROM users RETURNING *) SELECT * FROM t": false,
		"SELECT * INTO x FROM users":                                false,
		"SELECT * FROM users FOR UPDATE":                            false,
		"SELECT pg_read_file('/etc/passwd')":                        false,
		"SELECT \"evil\"()":                                         false,
		"SELECT public.evil (1)":                                    false,
		"SELECT query_to_xml('drop table x', true, true, '')":       false,
		"SELECT 1 /*! ; DROP TABLE x */":                            false,
		"SELECT 1 -- x":                                             false,
		"SELECT '\\'; DROP TABLE x; --'":                            false,
		"SELECT $$x$$":                                              false,
		"SELECT @a := 1":                                            false,
		"SELECT 'x":                                                 false,
		"EXPLAIN ANALYZE DELETE FROM users":                         false,
		"EXPLAIN":                                                   false,
		"PRAGMA writable_schema=1":                                  false,
		"":                                                          false,
		"SELECT 1" + strings.Repeat(" ", MaxSQLBytes-9) + "x":       true,
		"SELECT 1" + strings.Repeat(" ", MaxSQLBytes-8) + "x":       false,
	} {
		if got := readsOnly(text); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
	c := shipped(t)
	if u := c.Classify(offered("postgres", "query"), args("sql", "SELECT 1"), nil, here()); !sameEffects(u.Effects, effects(fetch)) {
		t.Errorf("%v", u.Effects)
	}
	if u := c.Classify(offered("postgres", "query"), args("sql", "COMMIT; DROP TABLE users; --"), nil, here()); !slices.Contains(u.Effects, change) {
		t.Errorf("%v", u.Effects)
	}
	if u := c.Classify(offered("sqlite", "read_query"), args("query", "SELECT 1; DELETE FROM t"), nil, here()); !slices.Contains(u.Effects, change) {
		t.Errorf("%v", u.Effects)
	}
}
