package sqlitejournal

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// benchSessions is how many sessions the appends are spread over.
const benchSessions = 10_000

// prebuilt seals n appends of about 600 bytes, round and round the sessions in an order
// that puts neighbours apart.
func prebuilt(b *testing.B, n int) []journal.Batch {
	b.Helper()
	chains := make([]*journaltest.Chain, min(n, benchSessions))
	body := strings.Repeat("x", 568)
	batches := make([]journal.Batch, n)
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(chains))
	for i := range batches {
		k := order[i%len(chains)]
		if chains[k] == nil {
			chains[k] = journaltest.NewChain("", fmt.Sprint("session-", k))
		}
		batches[i] = journal.Batch{Records: []journal.Record{chains[k].Next(b, body)}}
		chains[k].Entries = nil
	}
	return batches
}

// appendInFlight appends all batches with a number of them under way at once,
// each session's in order.
func appendInFlight(b *testing.B, inflight int, batches []journal.Batch, add func(context.Context, journal.Batch) error) {
	b.Helper()
	before := cpu(b)
	defer func() { b.ReportMetric(float64(cpu(b)-before)/float64(len(batches))/1e3, "cpu-us/op") }()
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	sessions := min(len(batches), benchSessions)
	for w := range min(inflight, sessions) {
		wg.Go(func() {
			for first := 0; first < len(batches); first += sessions {
				for i := first + w; i < min(first+sessions, len(batches)); i += inflight {
					if err := add(context.Background(), batches[i]); err != nil {
						failed.Store(&err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		b.Fatal(*err)
	}
}

// cpu returns the CPU time of the process in nanoseconds. On a busy machine it says more than
// elapsed time.
func cpu(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkAppend(b *testing.B) {
	for _, inflight := range []int{1, 64, 256} {
		b.Run(fmt.Sprint("sqlite/inflight=", inflight), func(b *testing.B) {
			j := open(b, filepath.Join(b.TempDir(), "journal.db"), Options{})
			batches := prebuilt(b, b.N)
			b.ReportAllocs()
			b.ResetTimer()
			appendInFlight(b, inflight, batches, j.Append)
			b.StopTimer()
			s := j.Stats()
			if s.Entries != int64(b.N) {
				b.Fatalf("%d entries, want %d", s.Entries, b.N)
			}
			b.ReportMetric(float64(s.Flushes)/float64(s.Entries), "flushes/op")
		})
		b.Run(fmt.Sprint("raw/inflight=", inflight), func(b *testing.B) {
			r := newRaw(b)
			batches := prebuilt(b, b.N)
			b.ResetTimer()
			appendInFlight(b, inflight, batches, r.append)
			b.StopTimer()
			r.close(b)
			b.ReportMetric(float64(r.flushes)/float64(b.N), "flushes/op")
		})
	}
}

// BenchmarkBesideRaw measures the journal and a raw file in turns, and reports the median of their
// ratios, because other work on the machine slows down both.
func BenchmarkBesideRaw(b *testing.B) {
	const rounds, slice = 9, 2 * benchSessions
	for _, inflight := range []int{64, 256} {
		b.Run(fmt.Sprint("inflight=", inflight), func(b *testing.B) {
			j, r := open(b, filepath.Join(b.TempDir(), "journal.db"), Options{}), newRaw(b)
			defer r.close(b)
			batches := prebuilt(b, rounds*slice)
			var ratios []float64
			for b.Loop() {
				if len(batches) == 0 {
					b.Fatal("run with -benchtime 1x")
				}
				for ; len(batches) > 0; batches = batches[slice:] {
					begin := b.Elapsed()
					appendInFlight(b, inflight, batches[:slice], j.Append)
					between := b.Elapsed()
					appendInFlight(b, inflight, batches[:slice], r.append)
					ratios = append(ratios, float64(b.Elapsed()-between)/float64(between-begin))
				}
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(ratios[len(ratios)/4], "lower-quartile")
			b.ReportMetric(ratios[len(ratios)*3/4], "upper-quartile")
		})
	}
}

// A raw appends to a file and flushes it, in groups as the journal does, and
// checks the expected sequence number of every append, but can find nothing
// again. It is the limit of what any journal on this disk can do.
type raw struct {
	heads   map[journal.Session]journal.Link
	f       *os.File
	queue   chan rawRequest
	done    chan struct{}
	flushes int
}

type rawRequest struct {
	batch journal.Batch
	done  chan error
}

func newRaw(b *testing.B) *raw {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	r := &raw{heads: map[journal.Session]journal.Link{}, f: f, queue: make(chan rawRequest, queueLength), done: make(chan struct{})}
	go r.run()
	return r
}

func (r *raw) append(_ context.Context, batch journal.Batch) error {
	if err := batch.Check(); err != nil {
		return err
	}
	q := rawRequest{batch, make(chan error, 1)}
	r.queue <- q
	return <-q.done
}

func (r *raw) run() {
	defer close(r.done)
	var group []rawRequest
	var out []byte
	for first := range r.queue {
		group = append(group[:0], first)
		for n := len(r.queue); n > 0; n-- {
			group = append(group, <-r.queue)
		}
		out = out[:0]
		for _, q := range group {
			rec := q.batch.Records[0]
			if r.heads[rec.Session] != rec.After {
				panic("a benchmark appends in order")
			}
			r.heads[rec.Session] = rec.Last()
			for _, e := range rec.Entries {
				out = binary.BigEndian.AppendUint64(out, e.Seq)
				out = append(out, e.Hash[:]...)
				out = binary.BigEndian.AppendUint32(out, uint32(len(e.Body)))
				out = append(out, e.Body...)
			}
		}
		_, err := r.f.Write(out)
		if err == nil {
			err = unix.Fdatasync(int(r.f.Fd()))
		}
		r.flushes++
		for _, q := range group {
			q.done <- err
		}
		runtime.Gosched() // as the journal does
	}
}

func (r *raw) close(b *testing.B) {
	b.Helper()
	close(r.queue)
	<-r.done
	if err := r.f.Close(); err != nil {
		b.Fatal(err)
	}
}
