package shellscan

import "testing"

// What printf prints is known if it is one plain text.
func TestPrinted(t *testing.T) {
	plain := func(s string) []word { return []word{literal(s)} }
	for _, c := range []struct {
		name string
		args []word
		want string
		ok   bool
	}{
		{"printf", plain("a"), "a", true},
		{"printf", plain(`a\nb\tc\\n`), "a\nb\tc\\n", true},
		{"printf", plain(`a\x41`), "", false},
		{"printf", plain(`a\`), "", false},
		{"printf", plain(`a\\`), `a\`, true},
		{"printf", plain(`\\\`), "", false},
		{"printf", plain(`a\c`), "", false},
		{"printf", plain("%s"), "", false},
		{"printf", plain("-v"), "", false},
		{"printf", nil, "", false},
		{"printf", []word{literal("a"), literal("b")}, "", false},
		{"printf", []word{{text: "a", vague: true}}, "", false},
		{"printf", []word{{text: "a", glob: true}}, "", false},
		{"printf", []word{{text: "a", split: true}}, "", false},
		{"echo", plain("a"), "", false},
	} {
		if got, ok := printed(c.name, c.args); got != c.want || ok != c.ok {
			t.Errorf("%s %+v: %q %v", c.name, c.args, got, ok)
		}
	}
}

// A plain select asks; anything that may write, load or go on is none.
func TestPlainSelect(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1":           true,
		" SELECT a FROM t; ": true,
		"select count(*) from t where a in (1, 2)":          true,
		"select count (*) from t":                           true,
		"select (1)":                                        true,
		"select max(a), lower(b) from (select a, b from t)": true,
		"selectx":                              false,
		"select":                               false,
		"":                                     false,
		"insert into t values (1)":             false,
		"select 1; drop table t":               false,
		"select 1;;":                           false,
		"select 1 -- x":                        false,
		"select 1 /* x */":                     false,
		"select 1\x00":                         false,
		"select load_extension('x')":           false,
		"select writefile('a', 'b')":           false,
		"select readfile ('a')":                false,
		"select readfile\n('a')":               false,
		"select readfile\t('a')":               false,
		"select edit('a')":                     false,
		"select \"edit\"('a')":                 false,
		"select `edit`('a')":                   false,
		"select [edit]('a')":                   false,
		"select 'edit'('a')":                   false,
		"select edit\r('a')":                   false,
		"select edit\f ('a')":                  false,
		"select \"a\" in (1), b from \"c\"":    true,
		"select a = (1), -(2), ((3)), ~(4)":    true,
		"select count(readfile('a'))":          false,
		"select count(a), readfile('b')":       false,
		"select a.count(1)":                    true,
		"select _count(1)":                     false,
		"select 9count(1)":                     false,
		"select xcount(1)":                     false,
		".shell id":                            false,
		"with x as (select 1) select * from x": false,
		"attach 'a' as b":                      false,
		"pragma writable_schema = 1":           false,
	} {
		if got := plainSelect(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
