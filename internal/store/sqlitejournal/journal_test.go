package sqlitejournal

import (
	"errors"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a journal in a new directory, or the one at path.
func open(t testing.TB, path string, opts Options) *Journal {
	t.Helper()
	opts.Volatile = true // the temporary folder may be in memory
	j, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func TestConformance(t *testing.T) {
	journaltest.RunWith(t, journaltest.Options{
		Open: func(t *testing.T) journal.Journal {
			return open(t, filepath.Join(t.TempDir(), "journal.db"), Options{})
		},
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			j.Close()
			return open(t, j.(*Journal).path, Options{})
		},
		Lose: func(t *testing.T, j journal.Journal) journal.Journal {
			path := j.(*Journal).path
			j.Close()
			c, err := connect(t.Context(), path)
			if err == nil {
				err = errors.Join(c.exec("DELETE FROM artifacts"), c.close())
			}
			if err != nil {
				t.Fatal(err)
			}
			return open(t, path, Options{})
		},
	})
}
