package postgresjournal

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJournal(t *testing.T) {
	dsn := testDSN(t)
	schemas := map[journal.Journal]string{}
	journaltest.RunWith(t, journaltest.Options{
		Open: func(t *testing.T) journal.Journal {
			schema := testSchema(t, dsn)
			j := open(t, dsn, Options{Schema: schema})
			schemas[j] = schema
			return j
		},
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, dsn, Options{Schema: schemas[j]})
			schemas[again] = schemas[j]
			return again
		},
	})
}
