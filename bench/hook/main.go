// Hook measures what one hook call costs: the thin program from its start to
// its answer, beside a Go program that does nothing, in pairs one after the
// other. The monitor is a real one and decides every call. Then it measures the
// first call of all, which has to start the monitor.
//
// The figures go to standard output as one JSON object.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

type options struct {
	programs string // the folder with floodmark and floodmark-hook
	pairs    int
	colds    int
	seed     uint64
	json     string
	cold     string // this run is the first call, in this home
}

// evidence is what is kept of a run.
type evidence struct {
	Suite    string    `json:"suite"`
	Commit   string    `json:"commit"`
	Modified bool      `json:"modified"` // the tree had changes that are not in the commit
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Go       string    `json:"go"`
	Cores    int       `json:"cores"`
	Load     string    `json:"load"` // of the machine, before
	Seed     uint64    `json:"seed"`
	Pairs    int       `json:"pairs"`
	Allowed  int       `json:"allowed"` // calls that were judged and allowed: all
	Empty    spread    `json:"empty_ms"`
	Hook     spread    `json:"hook_ms"`
	Ratio    spread    `json:"ratio"`   // of each pair
	Cold     []float64 `json:"cold_ms"` // each the first call of an account, which starts the monitor
	Notes    []string  `json:"notes,omitempty"`
}

// A spread is how a figure is distributed.
type spread struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
}

func main() {
	var o options
	flag.StringVar(&o.programs, "programs", "../bin", "the folder with floodmark and floodmark-hook")
	flag.IntVar(&o.pairs, "pairs", 1000, "how many pairs to time")
	flag.IntVar(&o.colds, "colds", 5, "how many first calls to time")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses who goes first in a pair")
	flag.StringVar(&o.json, "json", "", "also write the figures to this file")
	flag.StringVar(&o.cold, "cold", "", "internal: time one first call in this home, and print it")
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
	// A socket's path must be short, and what lies below /tmp is nobody's own.
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(home, ".fm-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := evidence{Suite: "hook", Began: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Cores: runtime.NumCPU(), Seed: o.seed, Pairs: o.pairs, Load: load()}
	e.Commit, e.Modified = commit(ctx)
	if err := warm(ctx, o, programs, dir, &e); err != nil {
		return err
	}
	if e.Cold, err = cold(ctx, o, programs, dir); err != nil {
		e.Notes = append(e.Notes, "the first call was not measured: "+err.Error())
	}
	e.Seconds = time.Since(e.Began).Round(time.Second).Seconds()
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if _, err := os.Stdout.Write(data); err != nil || o.json == "" {
		return err
	}
	return os.WriteFile(o.json, data, 0o644) //nolint:gosec // everybody may read it
}

func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	first, _, _ := bytes.Cut(data, []byte(" "))
	return string(first)
}

func commit(ctx context.Context) (hash string, modified bool) {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", true
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)), err != nil || len(bytes.TrimSpace(changes)) > 0
}
