// Mcp measures what standing between an agent and a server of tools costs: one
// call through the gateway beside the same call without it, one after the other,
// with the same server. Then 64 calls at once, beside a proxy of the same library
// that decides nothing; and one large result.
//
// The monitor is a real one and decides every call. The figures go to standard
// output as one JSON object.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/floodmark/floodmark/lab/bench/figures"
)

type options struct {
	programs string // the folder with floodmark
	pairs    int
	crowd    time.Duration
	seed     uint64
	json     string
	play     string // this run is a peer: server, proxy or floor
	record   string // where the floor writes
}

// evidence is what is kept of a run.
type evidence struct {
	figures.Run

	Pairs  int            `json:"pairs"`
	Direct figures.Spread `json:"direct_ms"`
	Bare   figures.Spread `json:"bare_ms"` // through the proxy that decides nothing
	Wrap   figures.Spread `json:"wrap_ms"`
	Added  figures.Spread `json:"added_ms"`
	// Ratio is wrap over direct, call by call, OverBare wrap over the bare proxy.
	Ratio    figures.Spread `json:"ratio"`
	OverBare figures.Spread `json:"over_bare"`
	// Serve is over HTTP, beside the same server on standard streams.
	Serve      figures.Spread `json:"serve_ms"`
	ServeAdded figures.Spread `json:"serve_added_ms"`
	ServeRatio figures.Spread `json:"serve_ratio"`

	// Floor is through the proxy that decides nothing, with as many bytes as a
	// decision writes appended to a file and flushed before each call and each
	// result goes on. FloorRatio is floor over direct, OverFloor wrap over floor.
	Floor      figures.Spread `json:"floor_ms"`
	FloorRatio figures.Spread `json:"floor_ratio"`
	OverFloor  figures.Spread `json:"over_floor"`

	Crowd crowd    `json:"crowd"`
	Large large    `json:"large"`
	Notes []string `json:"notes,omitempty"`
}

func main() {
	var o options
	flag.StringVar(&o.programs, "programs", "../../bin", "the folder with floodmark")
	flag.IntVar(&o.pairs, "pairs", 1000, "how many times to call each way")
	flag.DurationVar(&o.crowd, "crowd", 5*time.Second, "how long to call 64 at once, each way")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses who goes first")
	flag.StringVar(&o.json, "json", "", "also write the figures to this file")
	flag.StringVar(&o.play, "play", "", "internal: be the server, or the proxy, or the proxy that records")
	flag.StringVar(&o.record, "record", "", "internal: the file in which that one records")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch o.play {
	case "server":
		err = serve(ctx)
	case "proxy":
		err = proxy(ctx, flag.Args(), nil)
	case "floor":
		err = floor(ctx, flag.Args(), o.record)
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
	e := evidence{Run: figures.Begin(ctx, "mcp", o.seed), Pairs: o.pairs}
	for _, part := range []func(context.Context, options, *evidence) error{b.pairs, b.crowd, b.large} {
		if err := part(ctx, o, &e); err != nil {
			return err
		}
	}
	e.End()
	return figures.Write(e, o.json)
}
