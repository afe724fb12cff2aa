// Journal measures what a durable journal costs, on SQLite and PostgreSQL. It
// compares whole decisions with rows in the same engine for which nothing is
// decided, with bare INSERTs, and with appends to a raw file.
//
// With -million it measures a node that knows many sessions instead, with
// -precision a session that has seen a megabyte, with -long a session of many
// calls, and with -fleet a node with replicated databases.
//
// One JSON object for each figure goes to standard output. The program is in a
// module of its own, because it imports the drivers of both engines.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/service/heap"
)

type options struct {
	rounds    int
	seed      uint64
	dir, json string
	dsn       string
	engines   string
	mixes     string
	profile   string
	// sizes are the numbers of sessions of the nodes to measure. Their stores are kept in the
	// folder keep, if any. only says to make the stores and measure nothing.
	sizes, keep, program, plot string
	only, precision            bool
	// long is the number of calls of the one session to measure. A profile of its memory is
	// written to heap, if any.
	long int
	heap string
	// fleet says to measure replicated databases. With quick it only tries whether that works.
	fleet, quick bool
}

// busy reports whether a node that knows many sessions is also measured with the realistic mix,
// in which it takes in results of tools.
func (o options) busy() bool { return strings.Contains(o.mixes, "real") }

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 15, "how often everything is measured, at least 9")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the order of the slices")
	flag.StringVar(&o.dir, "dir", "../../../.cache", "a folder on a disk for the stores")
	flag.StringVar(&o.json, "json", "", "also write the figures to this file")
	flag.StringVar(&o.dsn, "postgres", os.Getenv("FLOODMARK_POSTGRES_DSN"), "a PostgreSQL server; without one, .ci/postgres starts one")
	flag.StringVar(&o.engines, "engines", "sqlite,postgres", "which to measure")
	flag.StringVar(&o.mixes, "mixes", "usual,real", "what sessions are asked: usual is many small ones that are only asked, real has tool results of all sizes, also with -million")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of everything to this file")
	flag.StringVar(&o.sizes, "million", "", "measure a node that knows so many sessions instead, such as 10000,100000,1000000")
	flag.StringVar(&o.keep, "keep", "", "with -million: make the stores in this folder, and use those that are there")
	flag.BoolVar(&o.only, "generate", false, "with -million: make the stores, measure nothing")
	flag.StringVar(&o.program, "program", "../../../bin/floodmark", "with -million: the floodmark to start")
	flag.BoolVar(&o.precision, "precision", false, "measure decisions with a megabyte of content seen, and the readers of text, instead")
	flag.IntVar(&o.long, "long", 0, "measure one session of so many calls instead")
	flag.StringVar(&o.heap, "heapprofile", "", "with -long: write a profile of the memory to this file")
	flag.BoolVar(&o.fleet, "fleet", false, "measure one, two and four databases with a synchronous replica each, instead")
	flag.BoolVar(&o.quick, "quick", false, "with -fleet: a minute or two, to see that it runs; too short for figures")
	flag.StringVar(&o.plot, "plot", "", "with -million: draw the growth to this SVG file")
	flag.Parse()
	o.rounds = max(o.rounds, leastRounds)
	heap.TuneMonitor(os.Getenv)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-journal:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	o.dir = dir
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if o.sizes != "" {
		return million(ctx, o)
	}
	if o.precision {
		return precision(ctx, o)
	}
	if o.long > 0 {
		return longDay(ctx, o)
	}
	if o.fleet {
		return fleet(ctx, o)
	}
	return compare(ctx, o)
}

// evidence is the record of a run.
type evidence struct {
	Suite    string    `json:"suite"`
	Commit   string    `json:"commit"`
	Modified bool      `json:"modified"` // the tree had changes that are not in the commit
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	Go       string    `json:"go"`
	Cores    int       `json:"cores"`
	Load     []string  `json:"load"` // of the machine, at the beginning and at the end
	Seed     uint64    `json:"seed,omitempty"`
	Races    int       `json:"races_with_one_winner,omitempty"` // for each engine
	Figures  any       `json:"figures"`
}

func newEvidence(ctx context.Context, suite string, o options) *evidence {
	e := &evidence{Suite: suite, Began: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Cores: runtime.NumCPU(), Load: []string{load()}, Seed: o.seed}
	e.Commit, e.Modified = commit(ctx)
	return e
}

// load returns the load averages of the machine.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

func (e *evidence) write(file string) error {
	e.Seconds = time.Since(e.Began).Round(time.Second).Seconds()
	e.Load = append(e.Load, load())
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// commit returns the commit of HEAD, and whether files outside docs differ from it.
func commit(ctx context.Context) (hash string, modified bool) {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown", true
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", "../../..", ":!../../../docs").Output()
	return strings.TrimSpace(string(head)), err != nil || len(changes) > 0
}
