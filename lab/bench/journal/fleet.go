package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A scale is how large a measurement of the fleet is.
type scale struct {
	rounds   int
	sessions int           // in the comparison with one database
	each     int           // sessions for each database when there are several
	length   time.Duration // of a slice
	sweep    []int         // numbers of events in flight, besides 64 and 256
}

func (o options) scale() scale {
	if o.quick {
		return scale{rounds: 2, sessions: 600, each: 300, length: 300 * time.Millisecond, sweep: []int{1, 16}}
	}
	return scale{rounds: o.rounds, sessions: 10_000, each: 2_500, length: sliceTime, sweep: []int{1, 4, 16}}
}

// perShard is how many events are in flight for each database when several are compared.
const perShard = 64

// shardCounts are the numbers of databases that are compared.
func shardCounts() []int { return []int{1, 2, 4} }

// fleetFigures are the figures of a run.
type fleetFigures struct {
	Server string `json:"server"`
	// Quick says that the run was too short for its figures to mean anything.
	Quick bool `json:"quick,omitempty"`
	// Ratios compare decisions with prebuilt rows and bare INSERTs in one database.
	Ratios []figure `json:"ratios"`
	// Sweep are whole decisions with one database, for different numbers in flight.
	Sweep []sharded `json:"sweep"`
	// Prebuilt are the same with rows for which nothing is decided.
	Prebuilt []sharded `json:"prebuilt"`
	// Shards are whole decisions with several databases, 64 in flight for each, as fast as
	// the machine can.
	Shards []sharded `json:"shards"`
	// Paced are the same at a fixed rate for each database. The rate is so low that even four
	// databases do not use the whole machine.
	Paced  []sharded `json:"paced"`
	Flush  flushTime `json:"flush"`
	Stored stored    `json:"stored"`
}

// fleet measures a node with replicated databases.
func fleet(ctx context.Context, o options) error {
	e := newEvidence(ctx, "bench-fleet", o)
	e.Races = races
	m, err := startPairs(ctx, filepath.Join("..", "..", ".."), shardCounts()[len(shardCounts())-1])
	if m != nil {
		defer m.stop()
	}
	if err != nil {
		return err
	}
	f := &fleetRun{machine: m, scale: o.scale(), random: rand.New(rand.NewPCG(o.seed, 1)), found: fleetFigures{Quick: o.quick}}
	if err := m.pairs[0].pool.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&f.found.Server); err != nil {
		return err
	}
	f.found.Server = "PostgreSQL " + f.found.Server
	for _, step := range []func(context.Context) error{f.races, f.one, f.several} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if f.found.Flush, err = timeFlushes(m.parent); err != nil {
		return err
	}
	e.Figures = f.found
	if err := e.write(o.json); err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(e)
}

// A fleetRun is one measurement under way.
type fleetRun struct {
	machine *fleetMachine
	scale   scale
	random  *rand.Rand
	found   fleetFigures
}

// races lets racers append after the same entry in a journal of four databases. It returns an
// error unless exactly one wins each race.
func (f *fleetRun) races(ctx context.Context) error {
	k, err := f.machine.keeper(ctx, len(f.machine.pairs), "races")
	if err != nil {
		return err
	}
	return errors.Join(winners(ctx, k), k.Close())
}

// one compares whole decisions with prebuilt rows and bare INSERTs in one
// database.
func (f *fleetRun) one(ctx context.Context) error {
	m := usualMix()
	m.sessions = f.scale.sessions
	kit, err := newKit(ctx, m)
	if err != nil {
		return err
	}
	var keepers [2]keeper
	for i, name := range []string{"decision", "prebuilt"} {
		if keepers[i], err = f.machine.keeper(ctx, 1, name); err != nil {
			return err
		}
	}
	fmt.Fprintln(os.Stderr, "one database: prepare")
	a, b, err := kit.pair(ctx, keepers[0], keepers[1])
	if err != nil {
		return err
	}
	bare, err := f.machine.bare(ctx, m.sessions)
	if err != nil {
		return err
	}
	c := newLane("bare", bare, m.sessions)
	for i, l := range []*lane{a, b, c} {
		l.length = f.scale.length
		l.meter = &meter{pairs: f.machine.pairs[:1], database: []string{"decision", "prebuilt", "bare"}[i]}
	}
	comparisons := []comparison{{"fleet, " + wholeName, a, b, wholeGoals()}, {"fleet, " + bareName, a, c, bareGoals()}}
	field := &field{engine: "fleet", lanes: []*lane{a, b, c}, comparisons: comparisons}
	for _, n := range append(f.scale.sweep, 64, 256) {
		lanes, rounds := []*lane{a, b}, max(2, f.scale.rounds/3)
		if n >= 64 {
			lanes, rounds = field.lanes, f.scale.rounds
		}
		if err := f.race(ctx, lanes, n, rounds); err != nil {
			return err
		}
		f.found.Sweep = append(f.found.Sweep, a.sum(1, n))
		f.found.Prebuilt = append(f.found.Prebuilt, b.sum(1, n))
		if n < 64 {
			continue
		}
		for _, c := range comparisons {
			f.found.Ratios = append(f.found.Ratios, c.metered(n))
		}
	}
	if f.found.Stored, err = f.machine.stored(ctx, "decision", a.acknowledged()); err != nil {
		return err
	}
	if f.found.Quick {
		return field.check(ctx, nil) // the run is too short to count flushes
	}
	return field.check(ctx, f.found.Ratios)
}

// race runs one round that is not counted, and then the counted rounds.
func (f *fleetRun) race(ctx context.Context, lanes []*lane, inflight, rounds int) error {
	fmt.Fprintf(os.Stderr, "%d in flight\n", inflight)
	if err := race(ctx, lanes, inflight, 1, f.random); err != nil {
		return err
	}
	return race(ctx, lanes, inflight, rounds, f.random)
}

// several compares one, two and four databases, with the same load for each database.
func (f *fleetRun) several(ctx context.Context) error {
	var lanes []*lane
	for _, n := range shardCounts() {
		fmt.Fprintf(os.Stderr, "%d databases: prepare\n", n)
		m := usualMix()
		m.sessions = f.scale.each * n
		kit, err := newKit(ctx, m)
		if err != nil {
			return err
		}
		database := fmt.Sprint("shards", n)
		k, err := f.machine.keeper(ctx, n, database)
		if err != nil {
			return err
		}
		d, err := newDecider(ctx, k, m, kit.rules, kit.key)
		if err != nil {
			return err
		}
		l := newLane(database, d, m.sessions)
		l.length, l.meter = f.scale.length, &meter{pairs: f.machine.pairs[:n], database: database}
		lanes = append(lanes, l)
	}
	var err error
	if f.found.Shards, err = f.rounds(ctx, lanes); err != nil {
		return err
	}
	four := f.found.Shards[len(lanes)-1]
	for i, n := range shardCounts() {
		lanes[i].pace = ofTheMost * four.PerSecond * float64(n) / float64(four.Shards)
	}
	if f.found.Paced, err = f.rounds(ctx, lanes); err != nil {
		return err
	}
	for i, n := range shardCounts() {
		rows, err := lanes[i].kept(ctx) // fails if a database has a session of another one
		if err != nil {
			return fmt.Errorf("%d databases: %w", n, err)
		}
		if acks := lanes[i].acknowledged(); rows != acks {
			return fmt.Errorf("%d databases: %d rows, but %d were acknowledged", n, rows, acks)
		}
	}
	return nil
}

// ofTheMost is the paced rate of a database as a share of the highest rate that each of four
// databases reached.
const ofTheMost = 0.6

// rounds lets the lanes with one, two and four databases take turns, and returns a figure for
// each.
func (f *fleetRun) rounds(ctx context.Context, lanes []*lane) (found []sharded, err error) {
	fmt.Fprintf(os.Stderr, "%v databases, %d in flight for each, paced %v\n", shardCounts(), perShard, lanes[0].pace > 0)
	for i := range 1 + f.scale.rounds {
		if i <= 1 { // the first round is not counted
			for _, l := range lanes {
				l.reset()
			}
		}
		for _, k := range f.random.Perm(len(lanes)) {
			if err := lanes[k].slice(ctx, perShard*shardCounts()[k]); err != nil {
				return nil, err
			}
		}
	}
	for i, n := range shardCounts() {
		s := lanes[i].sum(n, perShard*n)
		s.compare(lanes[i], lanes[0])
		if s.Connections, err = lanes[i].meter.connections(ctx); err != nil {
			return nil, err
		}
		if s.Crossing != 0 {
			return nil, fmt.Errorf("%d databases: %d statements of transactions that cross them, want none", n, s.Crossing)
		}
		found = append(found, s)
	}
	return found, nil
}

// bare makes the table of bare INSERTs in a database of its own. The table has the columns and
// keys that the table facts had when the goal was set.
func (m *fleetMachine) bare(ctx context.Context, sessions int) (*barePostgres, error) {
	p := m.pairs[0]
	dsn := fmt.Sprintf("host=%s user=postgres dbname=bare", p.dir)
	if err := execAll(ctx, p.dsn, "CREATE DATABASE bare"); err != nil {
		return nil, err
	}
	if err := execAll(ctx, dsn, "CREATE SCHEMA bare", "CREATE SEQUENCE bare.written",
		`CREATE TABLE bare.facts (tenant bytea NOT NULL, session bytea NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, id bigint NOT NULL,
			hash bytea NOT NULL, kind text NOT NULL, body bytea NOT NULL, PRIMARY KEY (tenant, session, seq))`,
		"CREATE INDEX ON bare.facts (tenant, id)"); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = bareConnections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return (&server{dsn: dsn, pool: pool}).bareIn("bare", sessions), nil
}
