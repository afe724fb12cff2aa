package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// A clock is simulated time with the planned events in order. Times are in microseconds. Two events
// at the same time happen in the order in which they were planned, so that the same seed gives the
// same history.
type clock struct {
	now    float64
	next   agenda
	number int
	random *rand.Rand
}

func newClock(seed uint64) *clock {
	return &clock{random: rand.New(rand.NewPCG(seed, 3))}
}

// after plans f for a time from now.
func (c *clock) after(delay float64, f func()) {
	c.number++
	heap.Push(&c.next, planned{at: c.now + delay, number: c.number, do: f})
}

// run runs the events that are planned up to the end, which may be infinite.
func (c *clock) run(end float64) {
	for len(c.next) > 0 && c.next[0].at <= end {
		p := c.next[0]
		heap.Pop(&c.next)
		c.now = p.at
		p.do()
	}
	if !math.IsInf(end, 1) {
		c.now = max(c.now, end)
	}
}

type planned struct {
	at     float64
	number int
	do     func()
}

// An agenda is a heap ordered by time.
type agenda []planned

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, k int) bool {
	return a[i].at < a[k].at || a[i].at == a[k].at && a[i].number < a[k].number
}
func (a agenda) Swap(i, k int) { a[i], a[k] = a[k], a[i] }

// Push implements [heap.Interface]. x is always a planned.
func (a *agenda) Push(x any) {
	if p, ok := x.(planned); ok {
		*a = append(*a, p)
	}
}

// Pop implements [heap.Interface].
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	old[len(old)-1] = planned{}
	*a = old[:len(old)-1]
	return last
}
