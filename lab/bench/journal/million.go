package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The goals of a node that knows a million sessions, 20,000 of them active.
const (
	goalBytes  = 4 << 30
	goalColdMS = 20
	goalFirst  = 2000 // milliseconds
)

// A grown holds the figures of a node that knows so many sessions. Times are in milliseconds.
// Socket and Process are of durable decisions with 64 in flight: Socket as the agent's side of
// the socket measures them, Process without a socket in one process.
type grown struct {
	Sessions   int   `json:"sessions"`
	StoreBytes int64 `json:"store_bytes"`

	FirstAnswer     float64 `json:"first_answer_ms"`           // after the daemon was stopped
	FirstAfterKill  float64 `json:"first_answer_killed_ms"`    // after kill -9 under load
	FirstDiskCold   float64 `json:"first_answer_disk_cold_ms"` // with nothing of the store in the system's memory
	RestingBytes    int64   `json:"resting_rss_bytes"`
	Active          int     `json:"active_sessions"`
	ActiveBytes     int64   `json:"active_rss_bytes"`
	PeakBytes       int64   `json:"peak_rss_bytes"`
	ActiveInSeconds float64 `json:"active_within_seconds"` // for one decision in each active session

	Socket  latencies `json:"socket"`
	Process latencies `json:"in_process"`

	Busy *busy `json:"realistic_mix,omitempty"`
}

// latencies are percentiles of decisions in four kinds of sessions.
type latencies struct {
	Warm     spread50 `json:"warm"`           // the daemon remembers the session
	Cold     spread50 `json:"cold"`           // it must read the session from the store
	ColdLong spread50 `json:"cold_200_facts"` // the same for a session of 200 facts with a snapshot
	ColdDisk spread50 `json:"cold_disk"`      // the store is not in the system's memory, either
}

type spread50 struct {
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
	// CPU is the computing time of the daemon for one decision, in milliseconds. A busy machine
	// changes it less than the other times. In one process it includes the asking.
	CPU   float64 `json:"cpu_ms"`
	Count int     `json:"count"`
}

// million measures nodes that know many sessions. Each number of sessions has a store of its own.
func million(ctx context.Context, o options) error {
	var sizes []int
	for word := range strings.SplitSeq(o.sizes, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < wave {
			return fmt.Errorf("-million %s: want numbers of at least %d", o.sizes, wave)
		}
		sizes = append(sizes, n)
	}
	keep := o.keep
	if keep == "" {
		dir, err := os.MkdirTemp(o.dir, "million-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		keep = dir
	}
	for _, n := range sizes {
		if err := made(ctx, filepath.Join(keep, strconv.Itoa(n)), n); err != nil {
			return fmt.Errorf("make a store of %d sessions: %w", n, err)
		}
	}
	if o.only {
		return nil
	}
	e := newEvidence(ctx, "million", o)
	var all []grown
	for _, n := range sizes {
		g, err := grow(ctx, o, filepath.Join(keep, strconv.Itoa(n)), n)
		if err != nil {
			return fmt.Errorf("measure %d sessions: %w", n, err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(g); err != nil {
			return err
		}
		all = append(all, g)
	}
	e.Figures = all
	if o.plot != "" {
		if err := os.WriteFile(o.plot, plot(all), 0o644); err != nil {
			return err
		}
	}
	return e.write(o.json)
}

// made makes a store in dir, unless a complete one is there.
func made(ctx context.Context, dir string, n int) error {
	done := filepath.Join(dir, "made")
	_, err := os.Stat(done)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := generate(ctx, dir, n); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}
