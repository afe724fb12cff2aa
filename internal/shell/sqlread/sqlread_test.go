package sqlread_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/sqlread"
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
		"SELECT a.x, 1.5 FROM s.t AS a JOIN s.u USING (id) WHERE a.x IN (1) AND lower(a.y) = 'z'": true,

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
		"SELECT public.lower('x')":                                  false,
		"SELECT public . count (1)":                                 false,
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
		"SELECT 1" + strings.Repeat(" ", sqlread.MaxBytes-9) + "x": true,
		"SELECT 1" + strings.Repeat(" ", sqlread.MaxBytes-8) + "x": false,
	} {
		if got := sqlread.ReadsOnly(text); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}
