package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

// A daily is what a monitor uses before its first call, and after the calls of a day.
type daily struct {
	Calls    int   `json:"calls"`
	Idle     int64 `json:"idle_bytes"`  // memory, before
	Resident int64 `json:"after_bytes"` // memory, after
	Disk     int64 `json:"disk_bytes"`  // what the day added, once the monitor has ended
}

// day has the calls of a working day judged, one after another, in sessions of a hundred calls.
func day(ctx context.Context, o options, programs string) (d daily, err error) {
	home, err := figures.NewHome()
	if err != nil {
		return d, err
	}
	defer func() { _ = home.Remove() }() // it contains no figures
	c := caller{hook: filepath.Join(programs, "floodmark-hook"), home: home.Dir, env: home.Env}
	monitor, err := home.Monitor(ctx, filepath.Join(programs, "floodmark"), "version: 1\nprofile: coding\n")
	if err != nil {
		return d, err
	}
	defer monitor.Stop()
	before, err := home.Kept()
	if err != nil {
		return d, err
	}
	if d.Idle, err = monitor.Resident(); err != nil {
		return d, err
	}
	output, err := os.ReadFile(filepath.Join("hook", "warm.go")) // a text as long as the results of tools
	if err != nil {
		return d, err
	}
	for d.Calls = 0; d.Calls < o.day; d.Calls++ {
		if d.Calls%100 == 0 {
			c.session = fmt.Sprintf("01a1dc4c-2816-7ac3-aaae-%012x", d.Calls)
			if err := c.begin(ctx); err != nil {
				return d, err
			}
		}
		if _, err := c.ask(ctx, "PreToolUse", c.call("PreToolUse", d.Calls, nil)); err != nil {
			return d, fmt.Errorf("call %d: %w", d.Calls, err)
		}
		result := fmt.Sprintf("%d lines\n%s", d.Calls, output)
		if _, err := c.ask(ctx, "PostToolUse", c.call("PostToolUse", d.Calls, map[string]any{"tool_response": result})); err != nil {
			return d, fmt.Errorf("call %d: %w", d.Calls, err)
		}
	}
	if d.Resident, err = monitor.Resident(); err != nil {
		return d, err
	}
	if err := monitor.End(); err != nil {
		return d, err
	}
	after, err := home.Kept()
	d.Disk = after - before
	return d, err
}
