package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

// many is how many calls are under way at once.
const many = 64

// largeBytes is the size of the large result.
const largeBytes = 10 << 20

// A crowd holds how many calls a second were answered with many under way at once.
type crowd struct {
	AtOnce int     `json:"at_once"`
	Bare   float64 `json:"bare_per_second"`
	Wrap   float64 `json:"wrap_per_second"`
	Share  float64 `json:"share"` // Wrap divided by Bare
	Serve  float64 `json:"serve_per_second"`
	// ServeShare is Serve, which is over HTTP, divided by Bare, which is on standard streams.
	ServeShare float64 `json:"serve_share"`
}

// A large holds the time and memory of a large result.
type large struct {
	Bytes  int     `json:"bytes"`
	Direct float64 `json:"direct_ms"`
	Bare   float64 `json:"bare_ms"`
	Wrap   float64 `json:"wrap_ms"`
	Serve  float64 `json:"serve_ms"`
	// The most memory that the program in between used, in MiB.
	BareMiB  float64 `json:"bare_mib"`
	WrapMiB  float64 `json:"wrap_mib"`
	ServeMiB float64 `json:"serve_mib"`
}

// crowd makes many calls at once, for half of o.crowd on each way, and then again.
func (b *bench) crowd(ctx context.Context, o options, e *evidence) error {
	var rates [3]float64
	const turns = 2
	for range turns {
		for i, open := range b.ways()[1:] {
			w, err := open(ctx)
			if err != nil {
				return err
			}
			rate, err := w.rush(ctx, o.crowd/turns)
			if err = errors.Join(err, w.Close()); err != nil {
				return err
			}
			rates[i] += rate / turns
		}
	}
	e.Crowd = crowd{AtOnce: many, Bare: rates[0], Wrap: rates[1], Share: rates[1] / rates[0], Serve: rates[2], ServeShare: rates[2] / rates[0]}
	return nil
}

// rush makes many calls at once for a while and returns how many were answered in a second.
func (w way) rush(ctx context.Context, long time.Duration) (float64, error) {
	var calls atomic.Int64
	var wg sync.WaitGroup
	failed := make(chan error, many)
	began := time.Now()
	for i := range many {
		wg.Go(func() {
			for n := 0; time.Since(began) < long; n++ {
				text := fmt.Sprintf("%d says %d", i, n)
				if _, err := w.call(ctx, "echo", echoArgs{text}, len(text)); err != nil {
					failed <- err
					return
				}
				calls.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(calls.Load()) / took.Seconds(), nil
	}
}

// large asks for a large result once on each way.
func (b *bench) large(ctx context.Context, _ options, e *evidence) error {
	e.Large.Bytes = largeBytes
	for i, open := range b.ways() {
		w, err := open(ctx)
		if err != nil {
			return err
		}
		took, err := w.call(ctx, "large", largeArgs{largeBytes}, largeBytes)
		memory := w.memory()
		if err = errors.Join(err, w.Close()); err != nil {
			e.Notes = append(e.Notes, fmt.Sprintf("a result of %d bytes, way %d: %v", largeBytes, i, err))
		}
		switch i {
		case 0:
			e.Large.Direct = figures.MS(took)
		case 1:
			e.Large.Bare, e.Large.BareMiB = figures.MS(took), memory
		case 2:
			e.Large.Wrap, e.Large.WrapMiB = figures.MS(took), memory
		case 3:
			e.Large.Serve, e.Large.ServeMiB = figures.MS(took), memory
		}
	}
	return nil
}

// memory returns the most memory that the program in between ever used, in MiB, or 0 if the
// system does not say.
func (w way) memory() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, _ := strconv.ParseFloat(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 64)
			return kib / 1024
		}
	}
	return 0
}
