package main

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver of the bare contender

	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
)

// sqliteKeeper opens a journal in a file of its own.
func sqliteKeeper(ctx context.Context, dir, name string) (keeper, error) {
	path := filepath.Join(dir, name)
	j, err := sqlitejournal.Open(ctx, path, sqlitejournal.Options{})
	if err != nil {
		return keeper{}, err
	}
	return keeper{
		Journal: j,
		flushes: func(context.Context, bool) (int64, error) { return j.Stats().Flushes, nil },
		rows: func(ctx context.Context) (int64, error) {
			if err := j.Close(); err != nil {
				return 0, err
			}
			return count(ctx, path)
		},
	}, nil
}

func dsn(path string, pragmas ...string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return u.String()
}

// count counts the rows of a closed store.
func count(ctx context.Context, path string) (n int64, err error) {
	db, err := sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM facts").Scan(&n)
	return n, err
}

// vacuum copies a store that may be in use, without its free pages.
func vacuum(ctx context.Context, path, to string) error {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// bareBytes is the size of the body of one bare row. The whole row has about 600 bytes.
const bareBytes = 568

// A bareSQLite inserts one row of 600 bytes for each event, in a transaction of its own, into
// a table such as the journal's. Each row is flushed to the disk, as the journal's are.
type bareSQLite struct {
	path   string
	db     *sql.DB
	insert *sql.Stmt
	seqs   []int64
	body   []byte
	rows   atomic.Int64
}

func newBareSQLite(ctx context.Context, dir, name string, sessions int) (*bareSQLite, error) {
	b := &bareSQLite{path: filepath.Join(dir, name), seqs: make([]int64, sessions), body: make([]byte, bareBytes)}
	var err error
	b.db, err = sql.Open("sqlite", dsn(b.path, "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-8192)"))
	if err != nil {
		return nil, err
	}
	b.db.SetMaxOpenConns(1) // SQLite has only one writer at a time, so more connections only wait
	_, err = b.db.ExecContext(ctx, `CREATE TABLE facts (mark INTEGER PRIMARY KEY, sid INTEGER NOT NULL, seq INTEGER NOT NULL,
		at INTEGER NOT NULL, hash BLOB NOT NULL, kind TEXT, body BLOB, UNIQUE (sid, seq)) STRICT`)
	if err == nil {
		b.insert, err = b.db.PrepareContext(ctx, "INSERT INTO facts (sid, seq, at, hash, kind, body) VALUES (?,?,?,?,?,?)")
	}
	return b, err
}

func (b *bareSQLite) refill(context.Context) error { return nil }

func (b *bareSQLite) one(ctx context.Context, i int) error {
	b.seqs[i]++
	if _, err := b.insert.ExecContext(ctx, i+1, b.seqs[i], 1, b.body[:32], "action-decided", b.body); err != nil {
		return err
	}
	b.rows.Add(1)
	return nil
}

// flushes returns the number of rows, because each INSERT is a commit, which SQLite flushes with
// synchronous(FULL).
func (b *bareSQLite) flushes(context.Context, bool) (int64, error) { return b.rows.Load(), nil }
func (b *bareSQLite) acknowledged() int64                          { return b.rows.Load() }

func (b *bareSQLite) kept(ctx context.Context) (int64, error) {
	if err := errors.Join(b.insert.Close(), b.db.Close()); err != nil {
		return 0, err
	}
	return count(ctx, b.path)
}
