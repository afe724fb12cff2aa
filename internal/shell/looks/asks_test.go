package looks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// psql returns a report of a line with only psql, with its words as a shell would pass them.
func psql(words ...string) shellscan.Report {
	return shellscan.Report{
		Understood: true,
		Effects:    []shellscan.Effect{{Kind: shellscan.Execute, Command: "psql"}},
		Parts:      []shellscan.Part{{Words: append([]string{"psql"}, words...), Effects: []floodmark.Effect{floodmark.Change, floodmark.Run}}},
	}
}

// A line asks a database if listed options give one host and statements that only read.
func TestAsks(t *testing.T) {
	const read = "select count(*) from entries"
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"-h", "db.example", "-c", read, "ledger"}, "db.example:5432"},
		{[]string{"--host=db.example", "--command=" + read}, "db.example:5432"},
		{[]string{"-h", "db.example", "-p", "5433", "-U", "anna", "-d", "ledger", "-X", "-At", "-c", read}, "db.example:5433"},
		{[]string{"-h", "db.example", "-p", "5433", "--port=5434", "-c", read}, ""},
		{[]string{"-c", read, "ledger"}, ""}, // the host is not in the line
		{[]string{"-h", "db.example", "ledger"}, ""},
		{[]string{"-h", "db.example", "-h", "attacker.example", "-c", read}, ""},
		{[]string{"-h", "/tmp/socket", "-c", read}, ""},
		{[]string{"-h", "db.example", "-c", read, "host=attacker.example"}, ""},
		{[]string{"-h", "db.example", "-c", read, "postgresql://attacker.example/x"}, ""},
		{[]string{"-h", "db.example", "-c", read, "-d", "service=x"}, ""},
		{[]string{"-h", "db.example", "-c", `\\! sh`}, ""},
		{[]string{"-h", "db.example", "-c", "copy t to program 'sh'"}, ""},
		{[]string{"-h", "db.example", "-c", "select pg_read_file('/etc/passwd')"}, ""},
		{[]string{"-h", "db.example", "-c", "delete from entries"}, ""},
		{[]string{"-h", "db.example", "-c", read, "-c", "drop table entries"}, ""},
		{[]string{"-h", "db.example", "-c", read, "-o", "out"}, ""},
		{[]string{"-h", "db.example", "-c", read, "-f", "x.sql"}, ""},
		{[]string{"-h", "db.example", "-c", read, "-v", "x=1"}, ""},
		{[]string{"-hdb.example", "-c", read}, ""},
	} {
		r := psql(c.words...)
		if host, port, ok := Asks(&r, "psql"); host+":"+port != c.want && ok || ok != (c.want != "") {
			t.Errorf("%s: %q %q %v", strings.Join(c.words, " "), host, port, ok)
		}
	}
}

// Nothing else in the line may run or send something, or expand something in a statement.
func TestAsksAlone(t *testing.T) {
	part := func(e ...floodmark.Effect) shellscan.Part { return shellscan.Part{Words: []string{"x"}, Effects: e} }
	for name, c := range map[string]struct {
		line   string
		change func(*shellscan.Report)
		want   bool
	}{
		"nothing":        {"psql", func(*shellscan.Report) {}, true},
		"a filter":       {"psql", func(r *shellscan.Report) { r.Parts = append(r.Parts, part(floodmark.Observe)) }, true},
		"a file":         {"psql", func(r *shellscan.Report) { r.Effects = append(r.Effects, shellscan.Effect{Kind: shellscan.Write}) }, true},
		"a run":          {"psql", func(r *shellscan.Report) { r.Parts = append(r.Parts, part(floodmark.Run)) }, false},
		"no effects":     {"psql", func(r *shellscan.Report) { r.Parts = append(r.Parts, part()) }, false},
		"another psql":   {"psql", func(r *shellscan.Report) { r.Effects = append(r.Effects, r.Effects[0]) }, false},
		"code":           {"psql", func(r *shellscan.Report) { r.Effects[0].Command = "x" }, false},
		"a request":      {"psql", func(r *shellscan.Report) { r.Effects = append(r.Effects, shellscan.Effect{Kind: shellscan.Fetch}) }, false},
		"the first":      {"psql", func(r *shellscan.Report) { r.Parts = append([]shellscan.Part{part(floodmark.Observe)}, r.Parts...) }, false},
		"a variable":     {"psql", func(r *shellscan.Report) { r.Sets = []string{"PGHOST"} }, false},
		"a function":     {"psql", func(r *shellscan.Report) { r.Defines = true }, false},
		"a loop":         {"psql", func(r *shellscan.Report) { r.Loops = true }, false},
		"a shell":        {"psql", func(r *shellscan.Report) { r.InteractiveShell = true }, false},
		"a doubt":        {"psql", func(r *shellscan.Report) { r.Understood = false }, false},
		"nothing there":  {"psql", func(r *shellscan.Report) { r.Parts = nil }, false},
		"something put":  {"psql -c \"select '$(cat .env)'\"", func(*shellscan.Report) {}, false},
		"an input":       {"psql < x", func(*shellscan.Report) {}, false},
		"two lines":      {"psql\nx", func(*shellscan.Report) {}, false},
		"stars quoted":   {"psql -c 'select *' \"?[{'\"", func(*shellscan.Report) {}, true},
		"names of files": {"psql -c select*", func(*shellscan.Report) {}, false},
		"one of a file":  {"psql -c 'select'?", func(*shellscan.Report) {}, false},
		"letters":        {"psql -c select[1]", func(*shellscan.Report) {}, false},
		"several words":  {"psql -h {a,b}", func(*shellscan.Report) {}, false},
	} {
		r := psql("-h", "db.example", "-c", "select 1")
		c.change(&r)
		if _, _, got := Asks(&r, c.line); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDatabases(t *testing.T) {
	text := "# mine\ndb.example:5432:ledger:ann:s3cret\ndb.example:5433:*:ann:a:b\n *:*:*:ann:x\nDB.example:1:a:b:c\nshort:1:a\nhost with space:1:a:b:c\nother.example:*:*:ann:y\nother.example:x:*:ann:y\n"
	if got := Databases(text); !slices.Equal(got, []string{"db.example:5432", "db.example:5433", "other.example:*"}) {
		t.Errorf("%q", got)
	}
	if got := Databases(strings.Repeat("a", 300) + ":1:a:b:c"); got != nil {
		t.Errorf("%q", got)
	}
	var many strings.Builder
	for i := range maxHosts + 5 {
		fmt.Fprintf(&many, "h%d:1:a:b:c\n", i)
	}
	if got := len(Databases(many.String())); got != maxHosts {
		t.Errorf("%d hosts", got)
	}
}

func TestKeptIn(t *testing.T) {
	list := []string{"db.example:5432", "other.example:*"}
	for at, want := range map[string]bool{"db.example:5432": true, "db.example:5433": false, "other.example:1": true, "x:1": false, "": false} {
		if got := (Look{Database: at}).KeptIn(list); got != want {
			t.Errorf("%q: %v", at, got)
		}
	}
}
