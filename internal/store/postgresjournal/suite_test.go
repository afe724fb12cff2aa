package postgresjournal

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// busyTimeout is for the suite, which writes the largest batch there may be, on a
// machine that has other things to do.
const busyTimeout = time.Minute

func TestJournal(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	schemas := map[journal.Journal]string{}
	journaltest.RunWith(t, journaltest.Options{
		Open: func(t *testing.T) journal.Journal {
			schema := postgrestest.Schema(t, dsn)
			j := open(t, dsn, Options{Schema: schema, Timeout: busyTimeout})
			schemas[j] = schema
			return j
		},
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, dsn, Options{Schema: schemas[j], Timeout: busyTimeout})
			schemas[again] = schemas[j]
			return again
		},
		Lose: func(t *testing.T, j journal.Journal) journal.Journal {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			c := postgrestest.Connect(t, dsn)
			if _, err := c.Exec(t.Context(), "ALTER TABLE "+schemas[j]+".artifacts NO FORCE ROW LEVEL SECURITY; DELETE FROM "+schemas[j]+".artifacts"); err != nil {
				t.Fatal(err)
			}
			again := open(t, dsn, Options{Schema: schemas[j], Timeout: busyTimeout})
			schemas[again] = schemas[j]
			return again
		},
	})
}
