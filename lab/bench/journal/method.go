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

// Contenders run in one process, in slices in random order, so that other load on the
// machine affects all of them alike. Ratios are taken between slices of the same round.
// A figure has their median and quartiles over the rounds.
const (
	leastRounds = 9
	sliceTime   = 800 * time.Millisecond
)

// errSpent says that a contender has nothing left to write in this slice.
var errSpent = errors.New("nothing is left to write")

// A contender writes events to sessions of its own, in a closed loop.
type contender interface {
	// refill prepares what the next slice needs, before the slice is timed.
	refill(ctx context.Context) error
	// one writes the next event of a session. It is never called twice at once for a session.
	one(ctx context.Context, session int) error
	// flushes returns how often the contender has waited for the disk so far. settle says that
	// it has just written, so the engine's count may need a moment.
	flushes(ctx context.Context, settle bool) (int64, error)
	// acknowledged returns how many rows were acknowledged so far.
	acknowledged() int64
	// kept returns how many rows are in the store. It is the last call and may close the store.
	kept(ctx context.Context) (int64, error)
}

// A lane is a contender in the race and its measurements with one number of events in flight.
type lane struct {
	name string
	contender

	mu    sync.Mutex // guards queue and times
	queue []int      // sessions, by the time of their last event, the earliest first
	times []time.Duration

	rates   []float64 // events per second, by slice
	cpu     float64   // computing time of this process in microseconds, for all slices
	events  int64
	flushed int64

	// meter, if any, measures what each slice uses.
	meter *meter
	used  []usage // by slice
	// length is how long a slice is. If it is 0, a slice is sliceTime long.
	length time.Duration
	// pace is how many events may begin in a second. If it is 0, there is no limit.
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

// slice runs the contender for l.length with so many events in flight.
func (l *lane) slice(ctx context.Context, inflight int) error {
	if err := l.refill(ctx); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	flushed, err := l.counted(ctx, false)
	if err != nil {
		return err
	}
	runtime.GC() // so that no contender collects the garbage of another
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

// turns returns a function that waits until the next event may begin by l.pace.
func (l *lane) turns(began time.Time) func() {
	if l.pace <= 0 {
		return func() {}
	}
	var begun atomic.Int64
	return func() {
		time.Sleep(time.Until(began.Add(time.Duration(float64(begun.Add(1)) / l.pace * float64(time.Second)))))
	}
}

// counted returns how often the contender has waited for the disk, or 0 if a meter counts that.
func (l *lane) counted(ctx context.Context, settle bool) (int64, error) {
	if l.meter != nil {
		return 0, nil
	}
	return l.flushes(ctx, settle)
}

// race runs all lanes for the given number of rounds.
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
		return 0 // the time is only shown, and no goal is set for it
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
