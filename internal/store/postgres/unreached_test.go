package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/floodmark/floodmark/journal"
)

// A database that does not answer is told from one that refuses, and from a caller that cancelled.
func TestAway(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		away bool
	}{
		{t.Context(), nil, false},
		{t.Context(), &pgconn.ConnectError{Config: &pgconn.Config{}}, true},
		{t.Context(), fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		{t.Context(), &net.OpError{Op: "read", Err: errors.New("reset")}, true},
		{t.Context(), context.DeadlineExceeded, true},
		{t.Context(), &pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, true},
		{t.Context(), &pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "42501"}, false},
		{t.Context(), errors.New("cannot scan"), false},
		{gone, &pgconn.ConnectError{Config: &pgconn.Config{}}, false},
		{gone, context.DeadlineExceeded, false},
	} {
		if got := away(c.ctx, c.err); errors.Is(got, journal.ErrAway) != c.away || !errors.Is(got, c.err) {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
