package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A sharded holds what whole decisions or prebuilt rows used, with a number of databases and of
// events in flight. The figures from Node to Received are for one event.
type sharded struct {
	Shards    int     `json:"shards"`
	Inflight  int     `json:"inflight"`
	Rounds    int     `json:"rounds"`
	Events    int64   `json:"events"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`

	Node    float64 `json:"node_cpu_us"`
	Primary float64 `json:"primary_cpu_us"`
	Replica float64 `json:"replica_cpu_us"`
	Flushes float64 `json:"flushes"`
	Commits float64 `json:"commits"`
	// Statements are the numbers of statements by what they are for.
	Statements map[string]float64 `json:"statements"`
	Log        float64            `json:"log_bytes"`
	Sent       float64            `json:"sent_bytes"`     // by the node to its databases
	Received   float64            `json:"received_bytes"` // by the node
	// Crossing is the number of all statements of transactions over several databases.
	Crossing int64 `json:"crossing_statements"`
	// Connections is the number of the node's connections to the database to which it has most.
	Connections int `json:"connections,omitempty"`

	NodeOfOne   *ofOne `json:"node_cpu_of_one_shard,omitempty"`
	ServerOfOne *ofOne `json:"server_cpu_of_one_shard,omitempty"`
	CPUOfOne    *ofOne `json:"cpu_of_one_shard,omitempty"`
	FlushOfOne  *ofOne `json:"flushes_of_one_shard,omitempty"`
}

// An ofOne is a figure with several databases, divided by that with one database: the
// median and the quartiles over the rounds.
type ofOne struct {
	Ratio float64 `json:"ratio"`
	Lower float64 `json:"lower_quartile"`
	Upper float64 `json:"upper_quartile"`
	Goal  float64 `json:"at_most"`
	Met   bool    `json:"met"`
}

// mostOfOne is how much an event with several databases may use at most, as a multiple of what an
// event with one database uses.
const mostOfOne = 1.10

// usage returns what all slices of the lane used.
func (l *lane) usage() (all usage) {
	for _, u := range l.used {
		all = all.plus(u, 1)
	}
	return all
}

// sum returns what the lane used for an event.
func (l *lane) sum(shards, inflight int) sharded {
	all := l.usage()
	per := func(n int64) float64 { return round(float64(n) / float64(all.events)) }
	s := sharded{
		Shards: shards, Inflight: inflight, Rounds: len(l.used), Events: all.events,
		PerSecond: math.Round(quantile(l.rates, 0.5)), P50: micros(l.times, 0.5), P99: micros(l.times, 0.99),
		Node: per(all.node.Microseconds()), Primary: per(all.primary.Microseconds()), Replica: per(all.replica.Microseconds()),
		Flushes: per(all.flushes), Commits: per(all.calls[callAppend]), Statements: map[string]float64{},
		Log: math.Round(per(all.log)), Sent: math.Round(per(all.sent)), Received: math.Round(per(all.received)),
		Crossing: all.calls[callCrossing],
	}
	for name, n := range all.calls {
		if n > 0 {
			s.Statements[name] = per(n)
		}
	}
	return s
}

// compare compares a lane with the lane that has one database, round by round.
func (s *sharded) compare(l, one *lane) {
	of := func(f func(usage) float64) *ofOne {
		var all []float64
		for i := range min(len(l.used), len(one.used)) {
			mine, his := l.used[i], one.used[i]
			if his.events > 0 && mine.events > 0 && f(his) > 0 {
				all = append(all, f(mine)/float64(mine.events)/(f(his)/float64(his.events)))
			}
		}
		r := &ofOne{Ratio: round(quantile(all, 0.5)), Lower: round(quantile(all, 0.25)), Upper: round(quantile(all, 0.75)), Goal: mostOfOne}
		r.Met = len(all) > 0 && r.Ratio <= mostOfOne
		return r
	}
	s.NodeOfOne = of(func(u usage) float64 { return u.node.Seconds() })
	s.ServerOfOne = of(func(u usage) float64 { return (u.primary + u.replica).Seconds() })
	s.CPUOfOne = of(func(u usage) float64 { return (u.node + u.primary + u.replica).Seconds() })
	s.FlushOfOne = of(func(u usage) float64 { return float64(u.flushes) })
}

// metered returns the figure of a comparison, with the flushes that the meters counted.
func (c comparison) metered(inflight int) figure {
	f := c.figure(inflight)
	mine, his := c.mine.usage(), c.his.usage()
	f.Flushes = round(float64(mine.flushes) / float64(mine.events))
	f.BaseFlushes = round(float64(his.flushes) / float64(his.events))
	return f
}

// A stored is what decisions take on a server's disk.
type stored struct {
	Facts         int64   `json:"facts"`
	FactsPerEvent float64 `json:"facts_per_decision"`
	// Bytes is the size of all tables for one fact, with their indexes.
	Bytes float64 `json:"bytes_per_fact"`
	// Index is the size of the indexes alone for one fact.
	Index float64 `json:"index_bytes_per_fact"`
}

// stored measures all tables of a database, including snapshots and the indexes of contents.
func (m *fleetMachine) stored(ctx context.Context, database string, facts int64) (s stored, err error) {
	c, err := connectServer(ctx, fmt.Sprintf("host=%s user=postgres dbname=%s", m.pairs[0].dir, database))
	if err != nil {
		return s, err
	}
	defer c.pool.Close()
	var all, index int64
	const sql = `SELECT sum(pg_total_relation_size(c.oid))::bigint, sum(pg_indexes_size(c.oid))::bigint
		FROM pg_class c WHERE c.relnamespace = 'floodmark'::regnamespace AND c.relkind = 'r'`
	if err := c.pool.QueryRow(ctx, sql).Scan(&all, &index); err != nil {
		return s, err
	}
	per := func(n int64) float64 { return math.Round(float64(n) / float64(facts)) }
	return stored{Facts: facts, FactsPerEvent: factsPerEvent, Bytes: per(all), Index: per(index)}, nil
}

// factsPerEvent is how many facts a decision writes: the call, and what was decided about it.
const factsPerEvent = 2

// A flushTime is how long a flush to the disk takes.
type flushTime struct {
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
}

const (
	flushTries = 300
	flushBytes = 16 << 10
)

// timeFlushes measures how long it takes to flush flushBytes to the disk, while nothing else
// writes.
func timeFlushes(dir string) (t flushTime, err error) {
	f, err := os.Create(filepath.Join(dir, "flush")) // removed with its folder
	if err != nil {
		return t, err
	}
	defer f.Close()
	data := make([]byte, flushBytes)
	var times []time.Duration
	for range flushTries {
		if _, err := f.Write(data); err != nil {
			return t, err
		}
		began := time.Now()
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return t, err
		}
		times = append(times, time.Since(began))
	}
	return flushTime{P50: micros(times, 0.5), P99: micros(times, 0.99)}, nil
}
