package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/floodmark/floodmark/journal"
)

// Unreached returns an error as text for people, on one line, with each tried server once. The hint
// says what to do if no connection was made, and is empty otherwise.
func Unreached(err error) (text, hint string) {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	text = strings.Join(lines, " ")
	var away *pgconn.ConnectError
	var says *pgconn.PgError
	switch {
	case !errors.As(err, &away):
		return text, ""
	case !errors.As(err, &says):
		return text, "see that the server runs, and that this machine reaches it by that name and port"
	case says.Code == "3D000": // there is no such database
		return text, "make the database first, such as with «createdb»"
	}
	return text, "see who may log in there, and as whom you connect: the name stands in the URL, or after --user"
}

// away adds [journal.ErrAway] to the error if the database did not answer, as opposed to answering
// with an error. If the caller cancelled, the error stays as it is.
func away(asked context.Context, err error) error {
	if err == nil || asked.Err() != nil {
		return err
	}
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect), pgconn.SafeToRetry(err), errors.As(err, &network), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
	case errors.As(err, &pg) && pg.SeverityUnlocalized == "FATAL": // it is being stopped, or has just been started
	default:
		return err
	}
	return fmt.Errorf("%w: %w", journal.ErrAway, err)
}
