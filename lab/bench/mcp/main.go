// Mcp measures what a gateway between an agent and a server of tools costs. It makes
// the same call with and without the gateway, one after the other, to the same server.
// Then it makes 64 calls at once, and asks for one large result, and compares the
// gateway with a proxy that uses the same library and decides nothing.
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
	play     string // server, proxy or floor, if this process is one of them
	record   string // the file that the floor writes
}

// evidence is the record of a run.
type evidence struct {
	figures.Run

	Pairs  int            `json:"pairs"`
	Direct figures.Spread `json:"direct_ms"`
	Bare   figures.Spread `json:"bare_ms"` // through the proxy that decides nothing
	Wrap   figures.Spread `json:"wrap_ms"`
	Added  figures.Spread `json:"added_ms"`
	// Ratio is Wrap divided by Direct, call by call. OverBare is Wrap divided by Bare.
	Ratio    figures.Spread `json:"ratio"`
	OverBare figures.Spread `json:"over_bare"`
	// Serve is through the gateway over HTTP. ServeAdded and ServeRatio compare it with Direct,
	// which is on standard streams.
	Serve      figures.Spread `json:"serve_ms"`
	ServeAdded figures.Spread `json:"serve_added_ms"`
	ServeRatio figures.Spread `json:"serve_ratio"`

	// Floor is through the proxy that decides nothing, but appends as many bytes to a file
	// as a decision writes and flushes it before it forwards a call or a result. FloorRatio
	// is Floor divided by Direct. OverFloor is Wrap divided by Floor.
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
