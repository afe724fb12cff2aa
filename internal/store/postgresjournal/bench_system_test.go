package postgresjournal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

const (
	// benchSessions is the number of sessions: few enough that each gets some dozens of entries, as
	// an agent's does. Beginning one costs more than continuing.
	benchSessions = 500
	// benchSlice is how long a contender runs before the next one, so that a busy machine affects
	// all of them.
	benchSlice = 800 * time.Millisecond
	// benchConnections is where single INSERTs were fastest, also with more in
	// flight.
	benchConnections = 64
)

// A contender appends records of one entry of about 600 bytes to sessions of its
// own, in a closed loop.
type contender struct {
	name  string
	write func(context.Context, journal.Record) error

	mu    sync.Mutex // guards what follows
	free  []journal.Session
	lasts map[journal.Session]journal.Link
	times []time.Duration
	rates []float64 // appends per second, by slice
}

func newContender(name string, write func(context.Context, journal.Record) error) *contender {
	c := &contender{name: name, write: write, lasts: map[journal.Session]journal.Link{}}
	for i := range benchSessions {
		c.free = append(c.free, session("%08d", i*7919%benchSessions))
	}
	return c
}

// next takes the session whose last write is the oldest.
func (c *contender) next() (journal.Session, journal.Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.free[0]
	c.free = c.free[1:]
	return s, c.lasts[s]
}

func (c *contender) wrote(r journal.Record, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lasts[r.Session] = r.Last()
	c.free = append(c.free, r.Session)
	c.times = append(c.times, took)
}

// run is one slice with so many in flight.
func (c *contender) run(b *testing.B, inflight int) {
	text := strings.Repeat("x", 560)
	var workers sync.WaitGroup
	var n atomic.Int64
	began := time.Now()
	for range inflight {
		workers.Go(func() {
			for time.Since(began) < benchSlice {
				s, after := c.next()
				start := time.Now()
				r := record(b, s, after, 1, text)
				if err := c.write(b.Context(), r); err != nil {
					b.Error(err)
					return
				}
				c.wrote(r, time.Since(start))
				n.Add(1)
			}
		})
	}
	workers.Wait()
	c.rates = append(c.rates, float64(n.Load())/time.Since(began).Seconds())
}

func (c *contender) report(b *testing.B) {
	slices.Sort(c.times)
	b.Logf("%-12s %6.0f appends/s (best slice %6.0f), p50 %6d us, p99 %6d us", c.name, median(c.rates), slices.Max(c.rates),
		c.times[len(c.times)/2].Microseconds(), c.times[len(c.times)*99/100].Microseconds())
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)/2]
}

// BenchmarkAppend compares whole appends, sealing included, with single INSERTs
// that check nothing, and both with whole appends by a role that has the rights of
// a writer and sees one tenant. An operation is one round of slices; use -benchtime 9x.
func BenchmarkAppend(b *testing.B) {
	for _, inflight := range []int{16, 64, 256} {
		b.Run(fmt.Sprintf("inflight=%d", inflight), func(b *testing.B) {
			j, bare := open(b, postgrestest.DSN(b), Options{}), open(b, postgrestest.DSN(b), Options{})
			writers, _ := bare.shards[0].Pools()
			config := writers.Config()
			config.MaxConns = benchConnections
			pool, err := pgxpool.NewWithConfig(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			defer pool.Close()
			ours := newContender("append", func(ctx context.Context, r journal.Record) error { return j.Append(ctx, batch(r)) })
			theirs := newContender("bare INSERT", func(ctx context.Context, r journal.Record) error {
				e := r.Entries[0]
				_, err := pool.Exec(ctx, `INSERT INTO `+bare.shards[0].homes.here().into()+` (tenant, session, seq, at, hash, kind, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
					[]byte(r.Session.Tenant), []byte(r.Session.ID), int64(e.Seq), e.At, e.Hash[:], e.Kind, e.Body)
				return err
			})
			g := newGuarded(b, newSchema(b))
			held := open(b, g.writer, Options{Schema: g.schema})
			writer := newContender("as a writer", func(ctx context.Context, r journal.Record) error { return held.Append(ctx, batch(r)) })
			all := []*contender{ours, theirs, writer}
			var ratios, rights []float64
			for b.Loop() {
				for _, i := range rand.Perm(len(all)) {
					all[i].run(b, inflight)
				}
				ratios = append(ratios, ours.rates[len(ours.rates)-1]/theirs.rates[len(theirs.rates)-1])
				rights = append(rights, writer.rates[len(writer.rates)-1]/ours.rates[len(ours.rates)-1])
			}
			for _, c := range all {
				c.report(b)
			}
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(rights), "writer/superuser")
			b.ReportMetric(median(ours.rates), "appends/s")
		})
	}
}
