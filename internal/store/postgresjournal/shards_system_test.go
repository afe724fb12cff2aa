package postgresjournal

import (
	"testing"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func TestDatabaseWithoutPreparedTransactions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if _, err := postgrestest.Connect(t, s.dsn).Exec(t.Context(), "ALTER SYSTEM SET max_prepared_transactions = 0"); err != nil {
		t.Fatal(err)
	}
	s.script(t.Context(), "restart")
	ranges := []Range{{s.dsn, 0, 2047}, {s.dsn + " dbname=template1", 2048, 4095}}
	j, err := OpenShards(t.Context(), ranges, Options{})
	if err == nil {
		j.Close()
	}
	wantErr(t, err, journal.ErrNotDurable)
}
