package postgresjournal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark/journal"
)

// benchSessions is how many sessions the benchmarks write to.
const benchSessions = 10_000

// A loader appends prebuilt entries of about 600 bytes, as a closed loop of many
// sessions at once.
type loader struct {
	mu    sync.Mutex
	free  []journal.Session
	lasts map[journal.Session]journal.Link
}

func newLoader() *loader {
	l := &loader{lasts: map[journal.Session]journal.Link{}}
	for i := range benchSessions {
		l.free = append(l.free, session("%08d", i*7919%benchSessions))
	}
	return l
}

// next takes the session that was not written to for the longest time.
func (l *loader) next() (journal.Session, journal.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.free[0]
	l.free = l.free[1:]
	return s, l.lasts[s]
}

func (l *loader) wrote(s journal.Session, last journal.Link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lasts[s] = last
	l.free = append(l.free, s)
}

// run appends n times with so many in flight and reports percentiles.
func (l *loader) run(b *testing.B, inflight int, write func(context.Context, journal.Record) error) {
	text := strings.Repeat("x", 560)
	var left atomic.Int64
	left.Store(int64(b.N))
	times := make([][]time.Duration, inflight)
	var workers sync.WaitGroup
	b.ResetTimer()
	for w := range inflight {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				s, after := l.next()
				r := record(b, s, after, 1, text)
				began := time.Now()
				if err := write(b.Context(), r); err != nil {
					b.Error(err)
					return
				}
				times[w] = append(times[w], time.Since(began))
				l.wrote(s, r.Last())
			}
		})
	}
	workers.Wait()
	b.StopTimer()
	all := slices.Sorted(slices.Values(slices.Concat(times...)))
	if len(all) > 0 {
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
	}
}

// BenchmarkAppend is the whole Append, with sealing.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 2, 3, 4} {
		for _, inflight := range []int{1, 16, 64, 256} {
			b.Run(fmt.Sprintf("w%d/inflight=%d", writers, inflight), func(b *testing.B) {
				j := open(b, testDSN(b), Options{Writers: writers})
				newLoader().run(b, inflight, func(ctx context.Context, r journal.Record) error {
					return j.Append(ctx, batch(r))
				})
			})
		}
	}
}

// BenchmarkBareInsert is one INSERT per row by so many connections, checking
// nothing: what a program without a journal would do.
func BenchmarkBareInsert(b *testing.B) {
	for _, inflight := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("inflight=%d", inflight), func(b *testing.B) {
			dsn := testDSN(b)
			j := open(b, dsn, Options{})
			config := j.shard.writers.Config()
			config.MaxConns = int32(min(inflight, 90))
			pool, err := pgxpool.NewWithConfig(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			defer pool.Close()
			newLoader().run(b, inflight, func(ctx context.Context, r journal.Record) error {
				e := r.Entries[0]
				_, err := pool.Exec(ctx, `INSERT INTO facts (tenant, session, seq, at, hash, kind, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
					[]byte(r.Session.Tenant), []byte(r.Session.ID), int64(e.Seq), e.At, e.Hash[:], e.Kind, e.Body)
				return err
			})
		})
	}
}
