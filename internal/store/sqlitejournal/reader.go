package sqlitejournal

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strconv"
	"sync"
)

// A reader is a connection that reads sessions, with its statements prepared. Reading a cold
// session takes four statements, and database/sql would double the time of each.
type reader struct {
	c *conn
	// Each statement reads a bounded amount, so it is never interrupted.
	begin, page, posting, artifact *stmt
}

const (
	beginSQL = `
		SELECT n.seq, n.hash, n.state, t.seq, t.hash, t.trust, t.secrecy, t.at, t.why, t.note
		FROM sessions s LEFT JOIN snapshots n ON n.sid = s.id LEFT JOIN tombstones t ON t.sid = s.id
		WHERE s.tenant = ? AND s.session = ?`
	// The LIMIT is no parameter: SQLite would plan anew for each value.
	pageSQL = `
		SELECT seq, at, hash, kind, body FROM facts
		WHERE sid = (SELECT id FROM sessions WHERE tenant = ? AND session = ?) AND seq >= ?
		ORDER BY seq LIMIT `
	postingSQL = "SELECT postings FROM contents WHERE tenant = ? AND digest = ?"
)

func newReader(path string) (*reader, error) {
	c, err := connect(context.Background(), path, readSettings()...)
	if err != nil {
		return nil, err
	}
	r := &reader{c: c}
	for _, s := range []struct {
		to  **stmt
		sql string
	}{{&r.begin, beginSQL}, {&r.page, pageSQL + strconv.Itoa(pageRows)}, {&r.posting, postingSQL}, {&r.artifact, artifactSQL}} {
		if *s.to, err = c.prepare(s.sql); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

func (r *reader) close() error {
	var errs []error
	for _, s := range []*stmt{r.begin, r.page, r.posting, r.artifact} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, r.c.close())...)
}

// each calls f with every row until f returns false. The row is valid only during the call; its
// values remain valid.
func (s *stmt) each(f func(row []driver.Value) (more bool, err error), args ...driver.NamedValue) (err error) {
	rows, err := s.query.QueryContext(context.Background(), args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if more, err := f(row); err != nil || !more {
			return err
		}
	}
}

// readerPool holds the readers, which are opened when they are needed.
type readerPool struct {
	path  string
	slots chan struct{} // one element for each reader in use

	mu   sync.Mutex // guards idle
	idle []*reader
}

func newReaderPool(path string) *readerPool {
	return &readerPool{path: path, slots: make(chan struct{}, readers)}
}

// do calls f with a reader, once one is free. If f returns an error, the reader is closed.
func (p *readerPool) do(ctx context.Context, f func(*reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.slots }()
	r, err := p.take()
	if err != nil {
		return err
	}
	if err := f(r); err != nil {
		return errors.Join(err, r.close())
	}
	p.mu.Lock()
	p.idle = append(p.idle, r)
	p.mu.Unlock()
	return ctx.Err()
}

func (p *readerPool) take() (*reader, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return r, nil
	}
	p.mu.Unlock()
	return newReader(p.path)
}

// close closes all readers. It is called when none is in use any more.
func (p *readerPool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, r := range p.idle {
		errs = append(errs, r.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// read calls f with a reader, while the journal is open.
func (j *Journal) read(ctx context.Context, f func(*reader) error) error {
	if err := j.enter(); err != nil {
		return err
	}
	defer j.active.Done()
	return j.sessions.do(ctx, f)
}

// The values of a row. A wrong type reads as the zero value, as NULL does; callers check the values
// they need.
func integer(v driver.Value) int64 { n, _ := v.(int64); return n }
func text(v driver.Value) string   { s, _ := v.(string); return s }
func blob(v driver.Value) []byte   { b, _ := v.([]byte); return b }
