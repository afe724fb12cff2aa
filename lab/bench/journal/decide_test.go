package main

import (
	"context"
	"testing"
	"time"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

// A nothing is a journal that accepts everything and keeps nothing.
type nothing struct{ journal.Journal }

func (nothing) Append(context.Context, journal.Batch) error { return nil }

// block is how many decisions are timed together. It has decisions of every sort.
const block = 32

// BenchmarkDecide measures the computing time of a whole decision without the journal. On a busy
// machine use the figure of the fastest quarter of the blocks.
func BenchmarkDecide(b *testing.B) {
	rules, err := shippedRules()
	if err != nil {
		b.Fatal(err)
	}
	m, err := newMonitor(nothing{journal.NewMemory()}, rules, provenance.Key{1}, slowLife(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	ask := func(i, k int) {
		ev := question(sessionName(i), k)
		reply, err := m.Handle(b.Context(), "", ev)
		if err := answered(ev, reply, err); err != nil {
			b.Fatal(err)
		}
	}
	calls := make([]int, 1000)
	for i := range calls {
		for _, ev := range opening(sessionName(i)) {
			reply, err := m.Handle(b.Context(), "", ev)
			if err := answered(ev, reply, err); err != nil {
				b.Fatal(err)
			}
		}
		for ; calls[i] < usualMix().calls(i); calls[i]++ {
			ask(i, calls[i])
		}
	}
	b.ReportAllocs()
	var blocks []float64
	var last time.Duration // since the loop began
	for n := 1; b.Loop(); n++ {
		i := n * 7919 % len(calls)
		ask(i, calls[i])
		calls[i]++
		if n%block == 0 {
			now := b.Elapsed()
			blocks = append(blocks, float64((now-last).Nanoseconds())/block)
			last = now
		}
	}
	if len(blocks) > 0 {
		b.ReportMetric(quantile(blocks, 0.25), "ns/quiet-op")
	}
}
