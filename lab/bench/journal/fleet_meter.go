package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"
)

// A usage is what was used so far, or between two readings of a meter.
type usage struct {
	events                 int64
	node, primary, replica time.Duration    // computing time
	flushes                int64            // of the primaries' logs
	log                    int64            // bytes the primaries wrote to their logs
	sent, received         int64            // bytes, by the node to and from its databases
	calls                  map[string]int64 // how many statements, by what they are for
}

func (u usage) minus(v usage) usage { return u.plus(v, -1) }

// plus returns u with v added the given number of times.
func (u usage) plus(v usage, times int64) usage {
	longer := func(a, b time.Duration) time.Duration { return a + time.Duration(times*b.Nanoseconds()) }
	sum := usage{
		events: u.events + times*v.events,
		node:   longer(u.node, v.node), primary: longer(u.primary, v.primary), replica: longer(u.replica, v.replica),
		flushes: u.flushes + times*v.flushes, log: u.log + times*v.log,
		sent: u.sent + times*v.sent, received: u.received + times*v.received,
		calls: map[string]int64{},
	}
	maps.Copy(sum.calls, u.calls)
	for name, n := range v.calls {
		sum.calls[name] += times * n
	}
	return sum
}

// A meter measures what a lane uses in this process and in the servers it writes to.
type meter struct {
	pairs    []*pair
	database string
}

// read returns what was used so far.
func (m *meter) read(ctx context.Context) (u usage, err error) {
	u.node = cpuTime()
	if u.sent, u.received, err = ownTraffic(); err != nil {
		return u, err
	}
	primaries, replicas := map[int]bool{}, map[int]bool{}
	for _, p := range m.pairs {
		primaries[p.pids[0]], replicas[p.pids[1]] = true, true
	}
	if u.primary, u.replica, err = computed(primaries, replicas); err != nil {
		return u, err
	}
	u.calls = map[string]int64{}
	for _, p := range m.pairs {
		if err := p.count(ctx, m.database, &u); err != nil {
			return u, err
		}
	}
	return u, nil
}

// flushed returns how often the primaries have flushed their logs, for all clients.
func (m *meter) flushed(ctx context.Context) (sum int64, err error) {
	for _, p := range m.pairs {
		sql := "SELECT wal_sync FROM pg_stat_wal"
		if p.newer {
			sql = "SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal'"
		}
		var n int64
		if err := p.pool.QueryRow(ctx, sql).Scan(&n); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// connections returns how many connections the node has to the database to which it has most.
// The node never closes a connection, so this is also the most it ever needed.
func (m *meter) connections(ctx context.Context) (most int, err error) {
	for _, p := range m.pairs {
		var n int
		if err := p.pool.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'bench' AND datname = $1", m.database).Scan(&n); err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
}

// count adds to u what a server wrote to its log, and the statements it ran for one database.
func (p *pair) count(ctx context.Context, database string, u *usage) error {
	var at int64
	if err := p.pool.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&at); err != nil {
		return err
	}
	u.log += at
	rows, err := p.pool.Query(ctx, "SELECT s.query, s.calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1", database)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var query string
		var calls int64
		if err := rows.Scan(&query, &calls); err != nil {
			return err
		}
		u.calls[kindOf(query)] += calls
	}
	return rows.Err()
}

// What statements are for. callCrossing is for statements that end a transaction of several
// databases.
const (
	callAppend   = "append"
	callSnapshot = "snapshot"
	callContent  = "content"
	callLookUp   = "look up"
	callTenants  = "act for tenants"
	callCrossing = "across databases"
	callOther    = "other"
)

// kindOf returns what a statement is for, by a part of its text that only statements of that
// kind have.
func kindOf(query string) string {
	for _, k := range []struct{ part, kind string }{
		{"PREPARE TRANSACTION", callCrossing},
		{"COMMIT PREPARED", callCrossing},
		{"INSERT INTO snapshots", callSnapshot},
		{"INSERT INTO contents", callContent},
		{"INSERT INTO artifacts", callAppend},
		{"INSERT INTO facts", callAppend},
		{`INSERT INTO "facts`, callAppend},
		{`"facts"`, callAppend},
		{"FROM artifacts a", callLookUp},
		{"FROM contents", callLookUp},
		{"set_config($1, $2, $3)", callTenants},
		{"set_config('floodmark.tenants'", callTenants},
	} {
		if strings.Contains(query, k.part) {
			return k.kind
		}
	}
	return callOther
}

// ownTraffic returns how many bytes this process has written and read. While a lane runs, almost
// all of them go to databases or come from them.
func ownTraffic() (written, read int64, err error) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "wchar":
			written = n
		case "rchar":
			read = n
		}
	}
	return written, read, nil
}

// computed returns the computing times of two sets of servers. They include all processes that
// the servers started, even if they have ended.
func computed(primaries, replicas map[int]bool) (of, other time.Duration, err error) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return 0, 0, err
	}
	for _, entry := range list {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended, so its time is in its parent's
		}
		parent, own, ended, ok := parseStat(string(data))
		if !ok {
			continue
		}
		switch {
		case primaries[pid]:
			of += own + ended
		case replicas[pid]:
			other += own + ended
		case primaries[parent]:
			of += own
		case replicas[parent]:
			other += own
		}
	}
	return of, other, nil
}

// parseStat reads a line of /proc/PID/stat. It returns the parent of the process, its computing
// time, and that of its children that have ended.
func parseStat(line string) (parent int, own, ended time.Duration, ok bool) {
	end := strings.LastIndex(line, ") ") // the last, because the name in brackets may contain any text
	ok = end >= 0
	rest := line[end+1:]
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return 0, 0, 0, false
	}
	var n [5]int
	for i, at := range []int{1, 11, 12, 13, 14} {
		var err error
		if n[i], err = strconv.Atoi(fields[at]); err != nil {
			return 0, 0, 0, false
		}
	}
	return n[0], time.Duration(n[1]+n[2]) * tick, time.Duration(n[3]+n[4]) * tick, true
}

// watch reads the meter before a slice. It returns a function that reads the meter after the
// slice and keeps the difference in l.used. Without a meter both do nothing.
func (l *lane) watch(ctx context.Context, inflight int) (after func(ctx context.Context, events int64) error, err error) {
	if l.meter == nil {
		return func(context.Context, int64) error { return nil }, nil
	}
	// So that the lookups which a node makes only after a pause come before the slice.
	if _, err := l.rinse(ctx, min(inflight, bareConnections)); err != nil {
		return nil, err
	}
	flushed, err := l.meter.flushed(ctx)
	if err != nil {
		return nil, err
	}
	before, err := l.meter.read(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, events int64) error {
		now, err := l.meter.read(ctx)
		if err != nil {
			return err
		}
		u := now.minus(before)
		u.events = events
		// A server process reports its flushes when it next ends a transaction, but not within
		// a second. So each process has to end one more, whose flush is not counted.
		time.Sleep(statsTime)
		rinsed, err := l.rinse(ctx, min(inflight, bareConnections))
		if err != nil {
			return err
		}
		end, err := l.meter.flushed(ctx)
		u.flushes = max(0, end-flushed-rinsed) // the flushes of the first rinse were reported late
		l.used = append(l.used, u)
		return err
	}, nil
}

// rinse writes a few events that are not measured, and returns how many commits that took.
func (l *lane) rinse(ctx context.Context, inflight int) (commits int64, err error) {
	before, err := l.meter.read(ctx)
	if err != nil {
		return 0, err
	}
	if err := together(inflight, func() error {
		s := l.next()
		defer l.putBack(s)
		if err := l.one(ctx, s); err != nil && !errors.Is(err, errSpent) {
			return err
		}
		return nil
	}); err != nil {
		return 0, err
	}
	after, err := l.meter.read(ctx)
	return after.calls[callAppend] - before.calls[callAppend], err
}
