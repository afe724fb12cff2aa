package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/store/postgresjournal"
)

// A pair is a PostgreSQL server with a synchronous replica, both on this machine.
type pair struct {
	dir, replica string // of the two servers
	dsn          string // of its superuser
	pool         *pgxpool.Pool
	pids         [2]int // of the primary and of its replica
	newer        bool   // PostgreSQL 18 or later, which counts flushes in pg_stat_io
}

// A fleetMachine holds the independent pairs with which the fleet is measured.
type fleetMachine struct {
	parent, script string
	pairs          []*pair
}

// startPairs starts n pairs. The caller must stop the machine if it is not nil, even after an
// error.
func startPairs(ctx context.Context, root string, n int) (*fleetMachine, error) {
	parent, err := os.MkdirTemp("", "fm")
	if err != nil {
		return nil, err
	}
	m := &fleetMachine{parent: parent, script: filepath.Join(root, ".ci", "postgres")}
	if err := os.Chmod(parent, 0o755); err != nil { // the servers' user needs access
		return m, err
	}
	for i := range n {
		fmt.Fprintf(os.Stderr, "start server %d of %d, with its replica\n", i+1, n)
		p := &pair{dir: filepath.Join(parent, fmt.Sprint("p", i)), replica: filepath.Join(parent, fmt.Sprint("r", i))}
		m.pairs = append(m.pairs, p)
		if err := m.start(ctx, p); err != nil {
			return m, fmt.Errorf("server %d: %w", i+1, err)
		}
	}
	return m, nil
}

// stop ends all servers and removes what they wrote.
func (m *fleetMachine) stop() {
	for _, p := range m.pairs {
		if p.pool != nil {
			p.pool.Close()
		}
		for _, dir := range []string{p.replica, p.dir} {
			if _, err := m.run(context.Background(), "stop", dir); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
			}
		}
	}
	os.RemoveAll(m.parent)
}

func (m *fleetMachine) run(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, m.script, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf(".ci/postgres %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// start starts a server that counts its statements, and then its replica. It waits until the
// server acknowledges no commit without the replica.
func (m *fleetMachine) start(ctx context.Context, p *pair) (err error) {
	if p.dsn, err = m.run(ctx, "start", p.dir); err != nil {
		return err
	}
	if err := execAll(ctx, p.dsn, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'"); err != nil {
		return err
	}
	if _, err := m.run(ctx, "restart", p.dir); err != nil {
		return err
	}
	if err := execAll(ctx, p.dsn, "CREATE EXTENSION pg_stat_statements", "CREATE ROLE bench LOGIN"); err != nil {
		return err
	}
	if _, err := m.run(ctx, "standby", p.replica, p.dir); err != nil {
		return err
	}
	if err := execAll(ctx, p.dsn, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	for i, dir := range []string{p.dir, p.replica} {
		if p.pids[i], err = postmaster(dir); err != nil {
			return err
		}
	}
	config, err := pgxpool.ParseConfig(p.dsn)
	if err != nil {
		return err
	}
	config.MaxConns = bareConnections
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	var version int
	if err := p.pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	p.newer = version >= 180000
	return p.follow(ctx)
}

// followWithin is how long a replica may take to be synchronous.
const followWithin = time.Minute

// follow waits until commits wait for the replica.
func (p *pair) follow(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < followWithin; time.Sleep(50 * time.Millisecond) {
		var n int
		if err := p.pool.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'").Scan(&n); err != nil {
			return err
		}
		if n == 1 {
			return nil
		}
	}
	return fmt.Errorf("its replica is not synchronous after %s", followWithin)
}

// postmaster returns the process ID of a server's first process.
func postmaster(dir string) (int, error) {
	data, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strconv.Atoi(strings.TrimSpace(first))
}

// execAll runs statements that cannot be in a transaction, one after the other.
func execAll(ctx context.Context, dsn string, statements ...string) error {
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	for _, sql := range statements {
		if _, err := c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// ranges spreads the shards evenly over the first n servers, and over databases of the same name
// in them.
func (m *fleetMachine) ranges(n int, database, user string) []postgresjournal.Range {
	list := make([]postgresjournal.Range, n)
	for i := range list {
		list[i] = postgresjournal.Range{
			DSN:   fmt.Sprintf("host=%s user=%s dbname=%s", m.pairs[i].dir, user, database),
			First: i * postgresjournal.Shards / n, Last: (i+1)*postgresjournal.Shards/n - 1,
		}
	}
	return list
}

// keeper opens a journal in new databases of the first n servers. As a node does, it uses a login
// that may only add and read facts.
func (m *fleetMachine) keeper(ctx context.Context, n int, database string) (keeper, error) {
	for _, p := range m.pairs[:n] {
		if err := execAll(ctx, p.dsn, "CREATE DATABASE "+database); err != nil {
			return keeper{}, err
		}
	}
	if err := postgresjournal.Init(ctx, m.ranges(n, database, "postgres"), postgresjournal.Options{}, true); err != nil {
		return keeper{}, err
	}
	for _, p := range m.pairs[:n] {
		if err := execAll(ctx, p.dsn, "GRANT "+postgresjournal.RolesOf("").Writer+" TO bench"); err != nil {
			return keeper{}, err
		}
	}
	j, err := postgresjournal.OpenShards(ctx, m.ranges(n, database, "bench"), postgresjournal.Options{})
	if err != nil {
		return keeper{}, err
	}
	return keeper{
		Journal: j,
		flushes: func(context.Context, bool) (int64, error) { return 0, nil }, // the meter counts them
		rows: func(ctx context.Context) (sum int64, err error) {
			if err := j.Close(); err != nil {
				return 0, err
			}
			for _, r := range m.ranges(n, database, "postgres") {
				rows, foreign, err := countRows(ctx, r)
				if err == nil && foreign > 0 {
					err = fmt.Errorf("%d facts are of sessions that belong to another database", foreign)
				}
				if err != nil {
					return 0, err
				}
				sum += rows
			}
			return sum, nil
		},
	}, nil
}

// countRows counts the facts in a database, and those of them that belong into another one.
func countRows(ctx context.Context, r postgresjournal.Range) (rows, foreign int64, err error) {
	c, err := pgx.Connect(ctx, r.DSN)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = c.Close(ctx) }()
	const sql = `SELECT count(*), count(*) FILTER (WHERE floodmark.shard_of(tenant, session) NOT BETWEEN $1 AND $2) FROM floodmark.facts`
	err = c.QueryRow(ctx, sql, r.First, r.Last).Scan(&rows, &foreign)
	return rows, foreign, err
}
