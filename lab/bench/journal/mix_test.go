package main

import (
	"math"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// Three of ten events of the mix are results. Their sizes have the two quantiles, and no two texts
// are the same.
func TestRealMix(t *testing.T) {
	m, seen, sizes := realMix(1), map[string]bool{}, []float64{}
	for k := range 1000 {
		ev := m.question(sessionName(7), k)
		if ev.Point != hook.AfterToolCall {
			continue
		}
		if seen[ev.Result.Text] {
			t.Errorf("event %d brings a text again", k)
		}
		seen[ev.Result.Text] = true
		sizes = append(sizes, float64(len(ev.Result.Text)))
	}
	if len(sizes) != 300 {
		t.Errorf("%d results of 1000 events", len(sizes))
	}
	for bytes, want := range map[int]int{middleBytes: 150, largeBytes: 3} {
		n := 0
		for _, size := range sizes {
			if size > 0.9*float64(bytes) { // smaller ones were cut at the end of a line
				n++
			}
		}
		if math.Abs(float64(n-want)) > 0.05*float64(want) {
			t.Errorf("%d results of %d have %d bytes, want %d", n, len(sizes), bytes, want)
		}
	}
}

// BenchmarkPostings measures what indexing a result of each kind costs.
func BenchmarkPostings(b *testing.B) {
	all := newTexts(1)
	for i, kind := range []string{"prose", "records", "source", "log"} {
		b.Run(kind, func(b *testing.B) {
			text := all.kinds[i][:12_000]
			if kind == "records" {
				text = "[" + text[:len(text)-200] // cut below
				for text[len(text)-1] != '}' {
					text = text[:len(text)-1]
				}
				text += "]"
			}
			var ix provenance.Indexer
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			used := cpuTime() // because on a busy machine the time by the clock says little
			for b.Loop() {
				ix.Postings(provenance.Key{1}, text)
			}
			b.ReportMetric(float64(b.N)*float64(len(text))/1e6/(cpuTime()-used).Seconds(), "MB/cpu-s")
		})
	}
}
