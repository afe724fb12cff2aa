package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/store/postgresjournal"
)

// startServer starts a new PostgreSQL server and returns how to stop it.
func startServer(ctx context.Context, root string) (dsn string, stop func(), err error) {
	parent, err := os.MkdirTemp("", "fm")
	if err != nil {
		return "", nil, err
	}
	if err := os.Chmod(parent, 0o755); err != nil { // the server's user needs access
		return "", nil, err
	}
	dir, script := filepath.Join(parent, "pg"), filepath.Join(root, ".ci", "postgres")
	stop = func() {
		if err := exec.CommandContext(context.Background(), script, "stop", dir).Run(); err != nil {
			fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		}
		os.RemoveAll(parent)
	}
	start := exec.CommandContext(ctx, script, "start", dir)
	start.Stderr = os.Stderr
	out, err := start.Output()
	if err != nil {
		stop()
		return "", nil, fmt.Errorf(".ci/postgres start: %w", err)
	}
	return strings.TrimSpace(string(out)), stop, nil
}

// A server is a PostgreSQL to be measured.
type server struct {
	dsn  string
	pool *pgxpool.Pool
}

// bareConnections is the number of connections with which single INSERTs were fastest, even
// with more of them in flight.
const bareConnections = 64

func connectServer(ctx context.Context, dsn string) (*server, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = bareConnections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return &server{dsn: dsn, pool: pool}, err
}

// keeper opens a journal in a new schema. It drops an old schema of that name.
func (s *server) keeper(ctx context.Context, schema string) (keeper, error) {
	if err := s.drop(ctx, schema); err != nil {
		return keeper{}, err
	}
	j, err := postgresjournal.Open(ctx, s.dsn, postgresjournal.Options{Schema: schema})
	if err != nil {
		return keeper{}, err
	}
	return keeper{
		Journal: j,
		flushes: s.flushes,
		rows: func(ctx context.Context) (int64, error) {
			if err := j.Close(); err != nil {
				return 0, err
			}
			return s.count(ctx, schema)
		},
	}, nil
}

func (s *server) drop(ctx context.Context, schema string) error {
	_, err := s.pool.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{schema}.Sanitize()+" CASCADE")
	return err
}

func (s *server) count(ctx context.Context, schema string) (n int64, err error) {
	err = s.pool.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{schema, "facts"}.Sanitize()).Scan(&n)
	return n, err
}

// statsTime is how long it takes until the server's statistics include what it did.
const statsTime = 1100 * time.Millisecond

// flushes returns how often the server flushed its log, for all clients.
func (s *server) flushes(ctx context.Context, settle bool) (n int64, err error) {
	if settle {
		time.Sleep(statsTime)
	}
	err = s.pool.QueryRow(ctx, "SELECT wal_sync FROM pg_stat_wal").Scan(&n)
	return n, err
}

// A barePostgres inserts one row of 600 bytes for each event, in a transaction of its own, into
// a table such as the journal's. It does not check that a row follows the one before it.
type barePostgres struct {
	*server
	schema, insert string
	seqs           []int64
	body           []byte
	rows           atomic.Int64
}

func (s *server) bare(ctx context.Context, schema string, sessions int) (*barePostgres, error) {
	k, err := s.keeper(ctx, schema) // to make the tables
	if err != nil {
		return nil, err
	}
	if err := k.Close(); err != nil {
		return nil, err
	}
	// The trigger looks up in which month's table the session is. A bare row needs no look-up.
	if _, err := s.pool.Exec(ctx, "DROP TRIGGER facts_go_home ON "+pgx.Identifier{schema, "facts"}.Sanitize()); err != nil {
		return nil, err
	}
	return s.bareIn(schema, sessions), nil
}

// bareIn returns a barePostgres for tables that exist.
func (s *server) bareIn(schema string, sessions int) *barePostgres {
	b := &barePostgres{server: s, schema: schema, seqs: make([]int64, sessions), body: make([]byte, bareBytes)}
	b.insert = "INSERT INTO " + pgx.Identifier{schema, "facts"}.Sanitize() +
		" (tenant, session, seq, at, id, hash, kind, body) VALUES ($1, $2, $3, $4, nextval('" + schema + ".written'), $5, $6, $7)"
	return b
}

func (b *barePostgres) refill(context.Context) error { return nil }

func (b *barePostgres) one(ctx context.Context, i int) error {
	b.seqs[i]++
	_, err := b.pool.Exec(ctx, b.insert, []byte{}, []byte(sessionName(i)), b.seqs[i], int64(1), b.body[:32], "action-decided", b.body)
	if err != nil {
		return err
	}
	b.rows.Add(1)
	return nil
}

func (b *barePostgres) acknowledged() int64 { return b.rows.Load() }

func (b *barePostgres) kept(ctx context.Context) (int64, error) { return b.count(ctx, b.schema) }
