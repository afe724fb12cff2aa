// Mcp measures what standing between an agent and a server of tools costs: one
// call through the gateway beside the same call without it, one after the other,
// with the same server. Then 64 calls at once, beside a proxy of the same library
// that decides nothing; and one large result.
//
// The monitor is a real one and decides every call. The figures go to standard
// output as one JSON object.
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
	"runtime"
	"slices"
	"strings"
	"time"
)

type options struct {
	programs string // the folder with floodmark
	pairs    int
	crowd    time.Duration
	seed     uint64
	json     string
	play     string // this run is a peer: server or proxy
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

	Pairs  int    `json:"pairs"`
	Direct spread `json:"direct_ms"`
	Bare   spread `json:"bare_ms"` // through the proxy that decides nothing
	Wrap   spread `json:"wrap_ms"`
	Added  spread `json:"added_ms"`
	// Ratio is wrap over direct, call by call, OverBare wrap over the bare proxy.
	Ratio    spread `json:"ratio"`
	OverBare spread `json:"over_bare"`
	// Serve is over HTTP, beside the same server on standard streams.
	Serve      spread `json:"serve_ms"`
	ServeAdded spread `json:"serve_added_ms"`
	ServeRatio spread `json:"serve_ratio"`

	Crowd crowd    `json:"crowd"`
	Large large    `json:"large"`
	Notes []string `json:"notes,omitempty"`
}

// A spread is how a figure is distributed.
type spread struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
}

func main() {
	var o options
	flag.StringVar(&o.programs, "programs", "../bin", "the folder with floodmark")
	flag.IntVar(&o.pairs, "pairs", 1000, "how many times to call each way")
	flag.DurationVar(&o.crowd, "crowd", 5*time.Second, "how long to call 64 at once, each way")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses who goes first")
	flag.StringVar(&o.json, "json", "", "also write the figures to this file")
	flag.StringVar(&o.play, "play", "", "internal: be the server, or the proxy")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch o.play {
	case "server":
		err = serve(ctx)
	case "proxy":
		err = proxy(ctx, flag.Args())
	default:
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-mcp:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	e := evidence{Suite: "mcp", Began: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Cores: runtime.NumCPU(), Seed: o.seed, Pairs: o.pairs, Load: load()}
	e.Commit, e.Modified = commit(ctx)
	for _, part := range []func(context.Context, options, *evidence) error{b.pairs, b.crowd, b.large} {
		if err := part(ctx, o, &e); err != nil {
			return err
		}
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

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func spreadOf(list []float64) spread {
	if len(list) == 0 {
		return spread{}
	}
	list = slices.Sorted(slices.Values(list))
	return spread{Median: list[len(list)/2], P99: list[min(len(list)-1, len(list)*99/100)]}
}
