package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a database, for as long as the test runs.
func open(t testing.TB, dsn, schema string) *Database {
	t.Helper()
	d, err := Open(t.Context(), dsn, Options{Schema: schema, Writers: 1, Readers: 1, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// A refusal names its reason, even if the last try ran out of time.
func TestTheReasonIsNotThatTimeRanOut(t *testing.T) {
	off := notDurable("fsync is off", "set it")
	cut := fmt.Errorf("%w: %w", ErrPool, context.DeadlineExceeded)
	for _, c := range []struct {
		before, now error
		late        bool
		want        error
	}{
		{off, cut, true, off},
		{off, cut, false, cut},
		{nil, cut, true, cut},
		{off, context.DeadlineExceeded, true, context.DeadlineExceeded}, // it was begun, and may have been written
	} {
		if got := Because(c.before, c.now, c.late); !errors.Is(got, c.want) || errors.Is(got, journal.ErrNotDurable) != errors.Is(c.want, journal.ErrNotDurable) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
