// Hook measures the cost of one hook call: the time of the thin program from its start to its
// answer, in pairs with a Go program that does nothing. The monitor is a real one and decides every
// call. Then it measures the first call of an account, which has to start the monitor.
//
// The figures are printed to standard output as one JSON object.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

type options struct {
	programs string // the folder with floodmark and floodmark-hook
	pairs    int
	colds    int
	seed     uint64
	json     string
	cold     string // if set, this run times the first call in this home
	felt     int    // if set, only measure that many calls with the hooks around them
	day      int    // with felt: how many calls a day has
}

// evidence is the published result of a run.
type evidence struct {
	figures.Run
	Pairs   int            `json:"pairs,omitempty"`
	Allowed int            `json:"allowed,omitempty"` // calls that were judged and allowed, which are all
	Empty   figures.Spread `json:"empty_ms,omitzero"`
	Hook    figures.Spread `json:"hook_ms,omitzero"`
	Ratio   figures.Spread `json:"ratio,omitzero"`    // of each pair
	Cold    []float64      `json:"cold_ms,omitempty"` // the first calls of accounts, which start the monitor
	Notes   []string       `json:"notes,omitempty"`
	// Felt is how long a call waits for both its hooks, by the kind of hook.
	Felt map[string]figures.Spread `json:"both_hooks_ms,omitempty"`
	// Boxed is how long a command that does nothing takes, without a box and in a box.
	Boxed map[string]figures.Spread `json:"command_ms,omitempty"`
	Day   daily                     `json:"day,omitzero"`
}

func main() {
	var o options
	flag.StringVar(&o.programs, "programs", "../../bin", "the folder with floodmark and floodmark-hook")
	flag.IntVar(&o.pairs, "pairs", 1000, "how many pairs to time")
	flag.IntVar(&o.colds, "colds", 5, "how many first calls to time")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses who goes first in a pair")
	flag.StringVar(&o.json, "json", "", "also write the figures to this file")
	flag.StringVar(&o.cold, "cold", "", "internal: time one first call in this home, and print it")
	flag.IntVar(&o.felt, "felt", 0, "only measure so many tool calls with both hooks, beside the hooks of others")
	flag.IntVar(&o.day, "day", 500, "with -felt: how many calls a day has, after which memory and disk are read")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-hook:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	programs, err := filepath.Abs(o.programs)
	if err != nil {
		return err
	}
	if o.cold != "" {
		return coldHere(ctx, programs, o.cold)
	}
	home, err := figures.NewHome()
	if err != nil {
		return err
	}
	defer func() { _ = home.Remove() }() // it is below the temporary folder
	e := evidence{Run: figures.Begin(ctx, "hook", o.seed), Pairs: o.pairs}
	if o.felt > 0 {
		e.Pairs = 0
		if e.Felt, err = felt(ctx, o, programs, home); err != nil {
			return err
		}
		if e.Day, err = day(ctx, o, programs); err != nil {
			return err
		}
		if e.Boxed, err = boxed(ctx, o, programs, home); err != nil {
			return err
		}
		e.End()
		return figures.Write(e, o.json)
	}
	if err := warm(ctx, o, programs, home, &e); err != nil {
		return err
	}
	if e.Cold, err = cold(ctx, o, programs, home.Dir); err != nil {
		e.Notes = append(e.Notes, "the first call was not measured: "+err.Error())
	}
	e.End()
	return figures.Write(e, o.json)
}
