package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The method: contenders run in one process, in slices in random order, so that
// whatever else the machine does meets all of them alike. Ratios are taken
// within a round, then their median and quartiles over the rounds.
const (
	leastRounds = 9
	sliceTime   = 800 * time.Millisecond
)

// errSpent says that a contender has nothing left to write in this slice.
var errSpent = errors.New("nothing is left to write")

// A contender writes events to sessions of its own, in a closed loop.
type contender interface {
	// refill makes ready what the next slice needs; its time is not measured.
	refill(ctx context.Context) error
	// one writes the next event of a session. No session is written to twice at
	// once.
	one(ctx context.Context, session int) error
	// flushes is how often the disk was waited for so far; settle says that it
	// was written to just now.
	flushes(ctx context.Context, settle bool) (int64, error)
	// acknowledged is how many rows were promised so far, kept how many there
	// are. Kept is asked last, and may close what it needs no more.
	acknowledged() int64
	kept(ctx context.Context) (int64, error)
}

// A lane is a contender in the race, with what was measured of it at one number
// in flight.
type lane struct {
	name string
	contender

	mu    sync.Mutex // guards queue and times
	queue []int      // sessions, the one not written to for the longest time first
	times []time.Duration

	rates   []float64 // events per second, by slice
	cpu     float64   // microseconds of this process, summed
	events  int64
	flushed int64

	// meter, if there is one, looks at all that a slice uses, which is kept in used.
	meter *meter
	used  []usage
	// length is how long a slice is; sliceTime if nothing is said.
	length time.Duration
	// pace is how many events a second may begin; 0 for as many as can.
	pace float64
}

func newLane(name string, c contender, sessions int) *lane {
	l := &lane{name: name, contender: c, queue: make([]int, sessions)}
	for i := range l.queue {
		l.queue[i] = i * 7919 % sessions
	}
	return l
}

func (l *lane) reset() {
	l.times, l.rates, l.cpu, l.events, l.flushed, l.used = nil, nil, 0, 0, 0, nil
}

func (l *lane) next() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.queue[0]
	l.queue = l.queue[1:]
	return s
}

func (l *lane) done(session int, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, session)
	l.times = append(l.times, took)
}

// putBack returns a session that was not written to.
func (l *lane) putBack(session int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, session)
}

// slice runs the contender for a while with so many in flight.
func (l *lane) slice(ctx context.Context, inflight int) error {
	if err := l.refill(ctx); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	flushed, err := l.counted(ctx, false)
	if err != nil {
		return err
	}
	runtime.GC() // so that none pays for the garbage of another
	watched, err := l.watch(ctx, inflight)
	if err != nil {
		return err
	}
	length := cmp.Or(l.length, sliceTime)
	before, used, began := len(l.times), cpuTime(), time.Now()
	turn := l.turns(began)
	var workers sync.WaitGroup
	failed := make(chan error, inflight)
	for range inflight {
		workers.Go(func() {
			for time.Since(began) < length {
				turn()
				s := l.next()
				start := time.Now()
				if err := l.one(ctx, s); errors.Is(err, errSpent) {
					l.putBack(s)
					return
				} else if err != nil {
					failed <- fmt.Errorf("%s: %w", l.name, err)
					return
				}
				l.done(s, time.Since(start))
			}
		})
	}
	workers.Wait()
	took, used := time.Since(began), cpuTime()-used
	close(failed)
	if err := <-failed; err != nil {
		return err
	}
	events := len(l.times) - before
	if err := watched(ctx, int64(events)); err != nil {
		return err
	}
	after, err := l.counted(ctx, true)
	l.rates = append(l.rates, float64(events)/took.Seconds())
	l.cpu += float64(used.Microseconds())
	l.events += int64(events)
	l.flushed += after - flushed
	return err
}

// turns returns what waits for one's turn.
func (l *lane) turns(began time.Time) func() {
	if l.pace <= 0 {
		return func() {}
	}
	var begun atomic.Int64
	return func() {
		time.Sleep(time.Until(began.Add(time.Duration(float64(begun.Add(1)) / l.pace * float64(time.Second)))))
	}
}

// counted is how often the disk was waited for, unless a meter counts that.
func (l *lane) counted(ctx context.Context, settle bool) (int64, error) {
	if l.meter != nil {
		return 0, nil
	}
	return l.flushes(ctx, settle)
}

// race runs all lanes in so many rounds.
func race(ctx context.Context, lanes []*lane, inflight, rounds int, r *rand.Rand) error {
	for _, l := range lanes {
		l.reset()
	}
	for range rounds {
		for _, i := range r.Perm(len(lanes)) {
			if err := lanes[i].slice(ctx, inflight); err != nil {
				return err
			}
		}
	}
	return nil
}

func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0 // it is shown, not judged by
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quantile interpolates between the two nearest values.
func quantile[T ~int64 | ~float64](list []T, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(list), cmp.Compare[T])
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return float64(sorted[low]) + (at-float64(low))*float64(sorted[high]-sorted[low])
}
