package main

import (
	"math"
	"slices"
	"time"
)

// A comparison is one ratio to be measured.
type comparison struct {
	name      string
	mine, his *lane
	// goals are by number in flight; there is none for a number that is only shown.
	goals map[int]float64
}

// A figure is one measured ratio. Its times and rates are those of the numerator; those of the
// denominator begin with «base».
type figure struct {
	Name     string  `json:"name"`
	Inflight int     `json:"inflight"`
	Sessions int     `json:"sessions"`
	Ratio    float64 `json:"ratio"`
	Lower    float64 `json:"lower_quartile"`
	Upper    float64 `json:"upper_quartile"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	Goal     float64 `json:"goal,omitempty"`
	Met      *bool   `json:"met,omitempty"`
	Rounds   int     `json:"rounds"`

	PerSecond     float64 `json:"per_second"`
	BestSlice     float64 `json:"best_slice"`
	BasePerSecond float64 `json:"base_per_second"`
	BaseBestSlice float64 `json:"base_best_slice"`
	BaseP50       float64 `json:"base_p50_us"`
	BaseP99       float64 `json:"base_p99_us"`
	// CPU is the processor time of this process for one event.
	CPU         float64 `json:"cpu_us"`
	BaseCPU     float64 `json:"base_cpu_us"`
	Flushes     float64 `json:"flushes_per_event"`
	BaseFlushes float64 `json:"base_flushes_per_event"`
	// Rows and Acks are counts for the whole run. If they differ, the run is invalid.
	Rows     int64 `json:"rows"`
	Acks     int64 `json:"acks"`
	BaseRows int64 `json:"base_rows"`
	BaseAcks int64 `json:"base_acks"`
}

// figure computes the figure of a comparison after a race.
func (c comparison) figure(inflight int) figure {
	all := make([]float64, len(c.mine.rates))
	for i := range all {
		all[i] = c.mine.rates[i] / c.his.rates[i]
	}
	f := figure{
		Name: c.name, Inflight: inflight, Sessions: len(c.mine.queue), Rounds: len(all),
		Ratio: round(quantile(all, 0.5)), Lower: round(quantile(all, 0.25)), Upper: round(quantile(all, 0.75)),
		P50: micros(c.mine.times, 0.5), P99: micros(c.mine.times, 0.99), BaseP50: micros(c.his.times, 0.5), BaseP99: micros(c.his.times, 0.99),
		PerSecond: math.Round(quantile(c.mine.rates, 0.5)), BasePerSecond: math.Round(quantile(c.his.rates, 0.5)),
		BestSlice: math.Round(slices.Max(c.mine.rates)), BaseBestSlice: math.Round(slices.Max(c.his.rates)),
		CPU: round(c.mine.cpu / float64(c.mine.events)), BaseCPU: round(c.his.cpu / float64(c.his.events)),
		Flushes: round(float64(c.mine.flushed) / float64(c.mine.events)), BaseFlushes: round(float64(c.his.flushed) / float64(c.his.events)),
	}
	if goal, ok := c.goals[inflight]; ok {
		met := f.Ratio >= goal
		f.Goal, f.Met = goal, &met
	}
	return f
}

func round(x float64) float64 { return math.Round(x*10000) / 10000 }

func micros(times []time.Duration, q float64) float64 {
	return math.Round(quantile(times, q) / float64(time.Microsecond))
}
