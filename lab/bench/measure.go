package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// Contenders run in short slices in random order, so that other load on the
// machine affects all of them alike. A round gives one time for each contender,
// the median of its slices. Ratios are taken between times of the same round.
const (
	leastRounds    = 9
	slicesPerRound = 8
	sliceTime      = 4 * time.Millisecond
)

// A contender is something to be timed. Its function run does the work n times.
type contender struct {
	name  string
	group string // only contenders of one group are compared
	who   string
	run   func(n int) error
}

// A figure holds the times of one contender, as medians over the rounds, and their
// ratios. The quartiles show how much the ratios vary between rounds.
type figure struct {
	Name     string     `json:"name"`
	NsOp     float64    `json:"ns_op"`
	AllocsOp float64    `json:"allocs_op"`
	VsCedar  *float64   `json:"ratio_vs_cedar,omitempty"`
	VsOPA    *float64   `json:"ratio_vs_opa,omitempty"`
	CedarQ   *quartiles `json:"quartiles_vs_cedar,omitempty"`
	OPAQ     *quartiles `json:"quartiles_vs_opa,omitempty"`
	Fastest  float64    `json:"ns_op_fastest_round"`
}

// quartiles are the first and the third quartile.
type quartiles [2]float64

// measure times all contenders in the given number of rounds.
func measure(list []contender, rounds int, seed uint64) ([]figure, error) {
	per := make([]int, len(list))
	allocs := make([]float64, len(list))
	for i, c := range list {
		var err error
		if per[i], err = calibrate(c); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if allocs[i], err = allocations(c); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	times := make([][]float64, len(list)) // by contender, then round
	for range rounds {
		round, err := oneRound(list, per, r)
		if err != nil {
			return nil, err
		}
		for i, ns := range round {
			times[i] = append(times[i], ns)
		}
	}
	out := make([]figure, len(list))
	for i, c := range list {
		out[i] = figure{Name: c.name, NsOp: median(times[i]), AllocsOp: allocs[i], Fastest: slices.Min(times[i])}
		for j, other := range list {
			if other.group != c.group {
				continue
			}
			switch other.who {
			case "cedar-go":
				out[i].VsCedar, out[i].CedarQ = ratios(times[i], times[j])
			case "opa":
				out[i].VsOPA, out[i].OPAQ = ratios(times[i], times[j])
			}
		}
	}
	return out, nil
}

// oneRound runs all slices of a round in random order and returns each
// contender's median time for one operation, in nanoseconds.
func oneRound(list []contender, per []int, r *rand.Rand) ([]float64, error) {
	order := make([]int, 0, len(list)*slicesPerRound)
	for i := range list {
		order = append(order, slices.Repeat([]int{i}, slicesPerRound)...)
	}
	r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	found := make([][]float64, len(list))
	for _, i := range order {
		runtime.GC() // so that no contender collects the garbage of another
		began := time.Now()
		if err := list[i].run(per[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", list[i].name, err)
		}
		found[i] = append(found[i], float64(time.Since(began))/float64(per[i]))
	}
	out := make([]float64, len(list))
	for i, f := range found {
		out[i] = median(f)
	}
	return out, nil
}

// calibrate returns how often a contender runs in one slice. It does not count the first run,
// which also does work that is done only once, such as reading the owner's words. Otherwise a
// slice could be a single run.
func calibrate(c contender) (int, error) {
	if err := c.run(1); err != nil {
		return 0, err
	}
	for n := 1; ; n *= 2 {
		took, err := fastest(c, n)
		if err != nil {
			return 0, err
		}
		if took > sliceTime/2 {
			return max(1, int(float64(n)*float64(sliceTime)/float64(took))), nil
		}
	}
}

// fastest times n runs five times and returns the shortest time, which no pause of the machine
// has lengthened.
func fastest(c contender, n int) (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for range 5 {
		began := time.Now()
		if err := c.run(n); err != nil {
			return 0, err
		}
		least = min(least, time.Since(began))
	}
	return least, nil
}

// allocations returns how many objects one operation allocates, on average over the calls.
func allocations(c contender) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := c.run(wantedCalls)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / wantedCalls, err
}

func ratios(mine, theirs []float64) (*float64, *quartiles) {
	all := make([]float64, len(mine))
	for i := range mine {
		all[i] = mine[i] / theirs[i]
	}
	m := median(all)
	return &m, &quartiles{quantile(all, 0.25), quantile(all, 0.75)}
}

func median(list []float64) float64 { return quantile(list, 0.5) }

// quantile interpolates between the two nearest values.
func quantile(list []float64, q float64) float64 {
	sorted := slices.SortedFunc(slices.Values(list), cmp.Compare[float64])
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
