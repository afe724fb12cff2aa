package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// busySessions work with the realistic mix while all other sessions are known to the node.
	busySessions = 1_000
	// busyEvents gives each of them fifty results.
	busyEvents = 167
)

// A busy is how a node performs while some of its sessions take in results of all sizes.
type busy struct {
	Sessions int     `json:"sessions"`
	Sources  int     `json:"sources_each"`
	Content  int64   `json:"content_bytes"`
	Seconds  float64 `json:"seconds"`
	// Events are all events: calls, and results that are indexed.
	Events spread50 `json:"events"`
	// Warm is one more call in each session, after everything was taken in.
	Warm      spread50 `json:"warm"`
	RSSBytes  int64    `json:"rss_bytes"`
	PeakBytes int64    `json:"peak_rss_bytes"`
}

// A crowd is a group of new sessions that work beside the sessions of the earlier run.
type crowd struct {
	*node
	mix   *mix
	first int // the number of the first session; other sessions than in an earlier run

	content, results atomic.Int64

	mu    sync.Mutex // guards times
	times []time.Duration
}

// work has new sessions work through the realistic mix, over the daemon's socket.
func (g *grown) work(ctx context.Context, o options, n *node) (err error) {
	c := &crowd{node: n, mix: realMix(o.seed), first: g.Sessions + int(time.Now().Unix()%1000)*busySessions}
	began, used := time.Now(), n.cpu()
	workers := make(chan int, inflight)
	for w := range inflight {
		workers <- w
	}
	if err := together(inflight, func() error { return c.live(ctx, <-workers) }); err != nil {
		return err
	}
	all := time.Since(began)
	b := busy{
		Sessions: busySessions, Content: c.content.Load(), Sources: int(c.results.Load()) / busySessions,
		Seconds: math.Round(all.Seconds()*10) / 10,
		Events: spread50{
			P50: millis(c.times, 0.5), P99: millis(c.times, 0.99), Count: len(c.times),
			PerSecond: math.Round(float64(len(c.times)) / all.Seconds()),
			CPU:       round(float64((n.cpu() - used).Microseconds()) / 1000 / float64(len(c.times))),
		},
	}
	list := make([]int, busySessions)
	for i := range list {
		list[i] = c.first + i
	}
	if b.Warm, err = askAll(ctx, n, list, busyEvents+ofTen); err != nil {
		return err
	}
	if b.RSSBytes, err = n.memory("VmRSS"); err != nil {
		return err
	}
	b.PeakBytes, err = n.memory("VmHWM")
	g.Busy = &b
	return err
}

// live runs the sessions of one worker. The events of a session come one after another. The worker
// alternates between its sessions, so that none is used twice in a row.
func (c *crowd) live(ctx context.Context, worker int) error {
	var times []time.Duration
	for k := range busyEvents {
		for i := worker; i < busySessions; i += inflight {
			id := sessionName(c.first + i)
			if k == 0 {
				for _, ev := range c.mix.opening(id) {
					if err := c.ask(ctx, worker, ev); err != nil {
						return err
					}
				}
			}
			ev := c.mix.question(id, k)
			if size := len(ev.Result.Text); size > 0 {
				c.content.Add(int64(size))
				c.results.Add(1)
			}
			start := time.Now()
			if err := c.ask(ctx, worker, ev); err != nil {
				return fmt.Errorf("session %s, event %d: %w", id, k, err)
			}
			times = append(times, time.Since(start))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = append(c.times, times...)
	return nil
}
