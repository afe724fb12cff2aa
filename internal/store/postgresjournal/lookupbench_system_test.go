package postgresjournal

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// BenchmarkLookUps measures look-ups of artifacts, 64 at once, of one tenant and of eight, and how
// long small ones wait beside one with large words.
func BenchmarkLookUps(b *testing.B) {
	const inflight, keysOf = 64, 10
	for _, c := range []struct {
		name    string
		tenants int
		large   int // words of a megabyte of another tenant, which two ask for all the time
	}{{"one", 1, 0}, {"eight", 8, 0}, {"beside", 8, 24}} {
		b.Run(c.name, func(b *testing.B) {
			j := open(b, postgrestest.DSN(b), Options{})
			keys := make([]floodmark.Digest, 200)
			for i := range keys {
				keys[i] = floodmark.DigestOf(fmt.Sprint(i))
			}
			for n := range c.tenants {
				for i := 0; i < len(keys); i += 4 {
					leave(b, j, fmt.Sprint("t", n), fmt.Sprint("s", i), keys[i], noise(400))
				}
			}
			body := noise(journal.MaxArtifactBytes)
			for i := range c.large {
				leave(b, j, "large", fmt.Sprint("s", i), keys[0], body)
			}
			var stop atomic.Bool
			var larges, all sync.WaitGroup
			for range min(2, c.large) {
				larges.Go(func() {
					for !stop.Load() {
						_, _ = j.Artifacts(b.Context(), "large", keys[:1])
					}
				})
			}
			_, readers := j.shards[0].Pools()
			before := readers.Stat().AcquireCount()
			var next, failed atomic.Int64
			times := make([]time.Duration, b.N)
			b.ResetTimer()
			for range inflight {
				all.Go(func() {
					for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
						at := int(i*7) % (len(keys) - keysOf)
						began := time.Now()
						if _, err := j.Artifacts(b.Context(), fmt.Sprint("t", int(i)%c.tenants), keys[at:at+keysOf]); err != nil {
							failed.Add(1)
						}
						times[i] = time.Since(began)
					}
				})
			}
			all.Wait()
			b.StopTimer()
			stop.Store(true)
			larges.Wait()
			slices.Sort(times)
			b.ReportMetric(float64(readers.Stat().AcquireCount()-before)/float64(b.N), "statements/op")
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs-median")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs-p99")
			b.ReportMetric(float64(failed.Load()), "refused")
		})
	}
}
