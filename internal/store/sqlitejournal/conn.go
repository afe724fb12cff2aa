package sqlitejournal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/floodmark/floodmark/journal"
)

// A conn is the one connection that writes. It uses the driver directly: database/sql would add a
// third to the cost of an append.
type conn struct{ c driver.Conn }

// A stmt is prepared once and used by one goroutine.
type stmt struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
}

// dsn names a file so that nothing in its path is parsed as a setting.
func dsn(path string, settings ...string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": settings}.Encode()}
	return u.String()
}

func connect(ctx context.Context, path string, settings ...string) (*conn, error) {
	connector, err := sqlite.NewConnector(dsn(path, settings...))
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c}, nil
}

func (c *conn) prepare(query string) (*stmt, error) {
	s, err := c.c.Prepare(query)
	if err != nil {
		return nil, err
	}
	exec, ok1 := s.(driver.StmtExecContext)
	rows, ok2 := s.(driver.StmtQueryContext)
	if !ok1 || !ok2 {
		return nil, errors.Join(errors.New("the SQLite driver cannot run statements"), s.Close())
	}
	return &stmt{s, exec, rows}, nil
}

// run runs a statement without a context: once begun, it is finished.
func (s *stmt) run(args ...driver.NamedValue) error {
	_, err := s.exec.ExecContext(context.Background(), args)
	return err
}

// row returns the first row, or nil if there is none.
func (s *stmt) row(args ...driver.NamedValue) (row []driver.Value, err error) {
	rows, err := s.query.QueryContext(context.Background(), args)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row = make([]driver.Value, len(rows.Columns()))
	switch err := rows.Next(row); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return row, nil
}

// values numbers arguments for the driver.
func values(vs ...driver.Value) []driver.NamedValue {
	args := make([]driver.NamedValue, len(vs))
	for i, v := range vs {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return args
}

// exec runs statements that are used once.
func (c *conn) exec(query string, args ...driver.Value) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.run(values(args...)...)
}

// ask returns the first row of a query that is used once.
func (c *conn) ask(query string) (row []driver.Value, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	row, err = s.row()
	if err == nil && row == nil {
		err = fmt.Errorf("%s: no answer", query)
	}
	return row, err
}

func (c *conn) close() error { return c.c.Close() }

// code is SQLite's primary result code, or 0 if err is not SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// reading wraps an error of a read. Damage that SQLite reports becomes [journal.ErrBroken].
func reading(what string, err error) error {
	if c := code(err); c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%w: %s: %v", journal.ErrBroken, what, err)
	} else if c == sqlite3.SQLITE_FULL {
		return fmt.Errorf("%w: %s: %w", journal.ErrFull, what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
