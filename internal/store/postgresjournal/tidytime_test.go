package postgresjournal

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
)

// A drop that hangs, as in its wait for a replica, is given up: who asks for it has
// more to do. The server is not distrusted for it.
func TestAMonthThatHangsIsGivenUp(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn, Options{Schema: schema, Timeout: busyTimeout})
	oldMonth(t, j, dsn, schema, 202001)()
	super := postgrestest.Connect(t, dsn)
	text := postgrestest.Query[string](t, super, "SELECT pg_get_functiondef('"+schema+".drop_month'::regproc)")
	hangs := strings.Replace(text, "BEGIN\n", "BEGIN\nPERFORM pg_sleep(30);\n", 1)
	replace := func(text string) {
		t.Helper()
		if _, err := super.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	replace(hangs)
	turn := j.shards[0].GivenUp()
	j.shards[0].tidyTime = 300 * time.Millisecond
	if n, err := j.Tidy(t.Context(), today()); n != 0 || err == nil || !strings.Contains(err.Error(), "month 202001: it took longer than 300ms") {
		t.Errorf("%d months dropped, %v", n, err)
	}
	if now := j.shards[0].GivenUp(); now != turn {
		t.Error("the server is distrusted")
	}
	replace(text)
	j.shards[0].tidyTime = tidyTime
	wantDropped(t, j, 2) // it, and the one after it
}
