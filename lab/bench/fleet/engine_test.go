package main

import (
	"math"
	"testing"
)

// The tests compare the simulation with formulas of queueing theory.

// waits lets work arrive at random at a station, and returns the mean time from its arrival to its
// end.
func waits(seed uint64, cores int, rate float64, takes func(*clock) float64, n int) float64 {
	c := newClock(seed)
	s := newStation(c, cores, 1)
	sum, done := 0.0, 0
	var next func()
	next = func() {
		came := c.now
		s.do(takes(c), func() {
			sum += c.now - came
			done++
		})
		if done < n {
			c.after(c.random.ExpFloat64()/rate, next)
		}
	}
	next()
	c.run(math.Inf(1))
	return sum / float64(done)
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got/want-1) > within {
		t.Errorf("%s: %g, want %g within %g %%", what, got, want, within*100)
	}
}

func TestStationsFollowClosedForms(t *testing.T) {
	const n = 150_000
	exponential := func(c *clock) float64 { return c.random.ExpFloat64() }
	fixed := func(*clock) float64 { return 1 }
	for _, rho := range []float64{0.3, 0.6, 0.8} {
		near(t, "M/M/1", waits(1, 1, rho, exponential, n), 1/(1-rho), 0.08)
		near(t, "M/D/1", waits(2, 1, rho, fixed, n), 1+rho/(2*(1-rho)), 0.08)
		near(t, "M/M/2", waits(3, 2, 2*rho, exponential, n), 1/(1-rho*rho), 0.08)
	}
}

// groups lets decisions arrive at random at writers that need a fixed time for a group.
func groups(writers, most int, rate, takes float64, n int) (mean, perGroup, throughput float64) {
	c := newClock(4)
	sum, done := 0.0, 0
	g := &gatherer{writers: writers, most: most, write: func(group []*decision, free func()) {
		c.after(takes, func() {
			for _, d := range group {
				sum += c.now - d.came
				done++
			}
			free()
		})
	}}
	var next func()
	came := 0
	next = func() {
		g.add(&decision{came: c.now})
		if came++; came < n {
			c.after(c.random.ExpFloat64()/rate, next)
		}
	}
	next()
	c.run(math.Inf(1))
	return sum / float64(done), float64(done) / float64(g.groups), float64(done) / c.now
}

func TestGroupsFollowTheirLimits(t *testing.T) {
	// If decisions always wait, one writer takes all that arrived while it wrote the last group.
	// These are rate × time decisions. Each waits for half of that time on average, and then for
	// its own group.
	mean, size, _ := groups(1, math.MaxInt, 100, 1, 150_000)
	near(t, "time in a group", mean, 1.5, 0.02)
	near(t, "size of a group", size, 100, 0.02)
	// If decisions arrive rarely, each is written alone.
	mean, size, _ = groups(1, math.MaxInt, 0.001, 1, 20_000)
	near(t, "time alone", mean, 1, 0.01)
	near(t, "size alone", size, 1, 0.01)
	// The rate is limited by the largest groups of all writers.
	_, _, rate := groups(4, 8, 1000, 1, 100_000)
	near(t, "rate of full groups", rate, 4*8, 0.02)
}

func TestDisksAreSharedByAllWhoWait(t *testing.T) {
	c := newClock(5)
	d := &disk{clock: c, takes: 10}
	var ends []float64
	for _, at := range []float64{0, 1, 2, 9, 10.5} {
		c.after(at, func() { d.flush(func() { ends = append(ends, c.now) }) })
	}
	c.run(math.Inf(1))
	want := []float64{10, 20, 20, 20, 30}
	for i := range want {
		if len(ends) != len(want) || ends[i] != want[i] {
			t.Fatalf("flushed at %v, want %v", ends, want)
		}
	}
	if d.flushes != 3 {
		t.Errorf("%d flushes, want 3", d.flushes)
	}
}
