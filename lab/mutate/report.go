package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// A report counts the mutants by their outcome.
type report struct {
	Go        string           `json:"go"`
	Exists    int              `json:"mutants"` // how many there were to choose from
	Seed      uint64           `json:"seed,omitempty"`
	Tried     int              `json:"tried"` // how many were tried and compile
	Caught    int              `json:"caught"`
	Survived  int              `json:"survived"`
	Excused   int              `json:"excused"`   // survived with an excuse; not counted in Percent
	Broken    int              `json:"uncounted"` // how many do not compile
	Percent   float64          `json:"percent"`
	Seconds   int              `json:"seconds"`
	Packages  map[string]tally `json:"packages"`
	Survivors []survivor       `json:"survivors,omitempty"`
}

// A tally is the report of one package.
type tally struct {
	Caught   int `json:"caught"`
	Survived int `json:"survived"`
	Excused  int `json:"excused,omitempty"`
}

// A survivor is a change that no test noticed.
type survivor struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Change string `json:"change"`
	Excuse string `json:"excuse,omitempty"`
}

func (r *report) add(m mutant, o outcome, es excuses) {
	t := r.Packages[m.pkg]
	e, excused := es.find(m)
	switch {
	case o == broken:
		r.Broken++
		return
	case o == caught:
		r.Caught++
		t.Caught++
	case excused:
		r.Excused++
		t.Excused++
	default:
		r.Survived++
		t.Survived++
	}
	if o == survived {
		r.Survivors = append(r.Survivors, survivor{m.ID(), m.Name(), m.Change(), e.reason})
	}
	r.Tried++
	r.Packages[m.pkg] = t
	if n := r.Caught + r.Survived; n > 0 {
		r.Percent = float64(1000*r.Caught/n) / 10
	}
}

func (r *report) print(out io.Writer) {
	slices.SortFunc(r.Survivors, func(a, b survivor) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, pkg := range slices.Sorted(maps.Keys(r.Packages)) {
		t := r.Packages[pkg]
		fmt.Fprintf(out, "%-12s %4d caught %4d survived %4d excused\n", pkg, t.Caught, t.Survived, t.Excused)
	}
	fmt.Fprintf(out, "%d of %d mutants tried: %d caught, %d survived, %d excused: %.1f %% caught (%d more do not compile; %d s)\n",
		r.Tried, r.Exists, r.Caught, r.Survived, r.Excused, r.Percent, r.Broken, r.Seconds)
}

// order returns the mutants in the order in which they are tried: shuffled by the seed,
// unless all of them are tried.
func order(o options, ms []mutant) []mutant {
	ms = slices.Clone(ms)
	if !o.all {
		r := rand.New(rand.NewPCG(o.seed, 0))
		r.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
	}
	return ms
}

// tryAll tries mutants, o.parallel at a time, until o.n of them compiled.
func tryAll(ctx context.Context, o options, ms []mutant, es excuses, out io.Writer) (report, error) {
	r := report{Go: runtime.Version(), Exists: len(ms), Packages: map[string]tally{}}
	want := len(ms)
	if !o.all {
		r.Seed, want = o.seed, min(o.n, len(ms))
	}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	b := bench{root: o.root, self: self, through: strings.FieldsFunc(o.through, func(r rune) bool { return r == ',' }), timeout: o.timeout, sound: &sound{tested: map[string]func() error{}}}
	began := time.Now()
	err = inParallel(ctx, o.parallel, order(o, ms), func() bool { return r.Tried < want }, func(m mutant) (outcome, error) { return b.try(ctx, m) },
		func(m mutant, got outcome) {
			r.add(m, got, es)
			if _, excused := es.find(m); got == survived && !excused { // printed at once, because the run may be interrupted
				fmt.Fprintf(out, "survived  %s\n          %s\n          %s\n", m.ID(), m.Name(), m.Change())
			}
			if n := r.Tried + r.Broken; n%25 == 0 {
				fmt.Fprintf(out, "... %d tried, %d caught, %d s\n", r.Tried, r.Caught, int(time.Since(began).Seconds()))
			}
		})
	r.Seconds = int(time.Since(began).Seconds())
	return r, err
}

// inParallel tries mutants in order with n workers, for as long as more returns true. It
// never calls more and note at the same time.
func inParallel(ctx context.Context, n int, ms []mutant, more func() bool, try func(mutant) (outcome, error), note func(mutant, outcome)) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex // guards next, fails, and the calls of more and note
		next  int
		fails []error
	)
	take := func() (mutant, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(ms) || len(fails) > 0 || ctx.Err() != nil || !more() {
			return mutant{}, false
		}
		next++
		return ms[next-1], true
	}
	for range n {
		wg.Go(func() {
			for m, ok := take(); ok; m, ok = take() {
				got, err := try(m)
				mu.Lock()
				if err != nil {
					fails = append(fails, err)
				} else if more() {
					note(m, got)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(append(fails, ctx.Err())...)
}
