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
	// busySessions work as the realistic mix says while all others are known.
	busySessions = 1_000
	// busyEvents bring fifty results into each of them.
	busyEvents = 167
)

// A busy is what a node answers while some of its sessions take in results of
// all sizes.
type busy struct {
	Sessions int     `json:"sessions"`
	Sources  int     `json:"sources_each"`
	Content  int64   `json:"content_bytes"`
	Seconds  float64 `json:"seconds"`
	// Events are all of them: calls, and the results that are indexed.
	Events spread50 `json:"events"`
	// Warm is one more call in each, when all of it was taken in.
	Warm      spread50 `json:"warm"`
	RSSBytes  int64    `json:"rss_bytes"`
	PeakBytes int64    `json:"peak_rss_bytes"`
}

// work lets new sessions live through the realistic mix by the daemon's socket,
// beside the sessions that were used before. Events of one session come one
// after the other, and a worker goes round its sessions, so that none is used
// twice in a row.
func (g *grown) work(ctx context.Context, o options, n *node) (err error) {
	m := realMix(o.seed)
	b := busy{Sessions: busySessions}
	first := g.Sessions + int(time.Now().Unix()%1000)*busySessions // others than in a run before
	var mu sync.Mutex                                              // guards times
	var times []time.Duration
	var content, results atomic.Int64
	began, used := time.Now(), n.cpu()
	workers := make(chan int, inflight)
	for w := range inflight {
		workers <- w
	}
	err = together(inflight, func() error {
		w := <-workers
		var mine []time.Duration
		for k := range busyEvents {
			for i := w; i < busySessions; i += inflight {
				id := sessionName(first + i)
				if k == 0 {
					for _, ev := range m.opening(id) {
						if err := n.ask(ctx, w, ev); err != nil {
							return err
						}
					}
				}
				ev := m.question(id, k)
				if size := len(ev.Result.Text); size > 0 {
					content.Add(int64(size))
					results.Add(1)
				}
				start := time.Now()
				if err := n.ask(ctx, w, ev); err != nil {
					return fmt.Errorf("session %s, event %d: %w", id, k, err)
				}
				mine = append(mine, time.Since(start))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		times = append(times, mine...)
		return nil
	})
	if err != nil {
		return err
	}
	all := time.Since(began)
	b.Content, b.Sources = content.Load(), int(results.Load())/busySessions
	b.Seconds = math.Round(all.Seconds()*10) / 10
	b.Events = spread50{
		P50: millis(times, 0.5), P99: millis(times, 0.99), Count: len(times),
		PerSecond: math.Round(float64(len(times)) / all.Seconds()),
		CPU:       round(float64((n.cpu() - used).Microseconds()) / 1000 / float64(len(times))),
	}
	list := make([]int, busySessions)
	for i := range list {
		list[i] = first + i
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
