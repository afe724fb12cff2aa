package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark/lab/bench/figures"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// policy describes the tools, so that the monitor lets them pass.
const policy = `version: 1
tools:
  - {server: echo, tool: echo, about: says it again, effect: fetch, own: true, returns: {trust: local, secrecy: internal}, args: {text: {role: content, is: text}}}
  - {server: echo, tool: large, about: says much, effect: fetch, own: true, returns: {trust: local, secrecy: internal}, args: {bytes: {role: content, is: text}}}
`

// A bench is a monitor with a home of its own, and ways to the server.
type bench struct {
	figures.Home
	floodmark, self string
	monitor         figures.Monitor
}

func newBench(ctx context.Context, o options) (*bench, error) {
	programs, err := filepath.Abs(o.programs)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	home, err := figures.NewHome()
	if err != nil {
		return nil, err
	}
	b := &bench{Home: home, floodmark: filepath.Join(programs, "floodmark"), self: self}
	if b.monitor, err = home.Monitor(ctx, b.floodmark, policy); err != nil {
		return nil, errors.Join(err, home.Remove())
	}
	return b, nil
}

func (b *bench) close() {
	b.monitor.Stop()
	_ = b.Remove()
}

// A way is a client that is connected to the server, directly or through a program in between.
type way struct {
	*mcp.ClientSession
	cmd    *exec.Cmd
	prefix string // before the names of tools
	end    func() error
}

// Close ends the client, and the program in between if that does not end with the client.
func (w way) Close() error {
	err := w.ClientSession.Close()
	if w.end != nil {
		err = errors.Join(err, w.end())
	}
	return err
}

// ways returns all ways but the floor, in the order of the figures.
func (b *bench) ways() []func(context.Context) (way, error) {
	return []func(context.Context) (way, error){b.direct, b.bare, b.wrap, b.serve}
}

// direct connects the client to the server.
func (b *bench) direct(ctx context.Context) (way, error) {
	return b.way(ctx, b.self, "-play", "server")
}

func (b *bench) bare(ctx context.Context) (way, error) {
	return b.way(ctx, b.self, "-play", "proxy", "--", b.self, "-play", "server")
}

func (b *bench) wrap(ctx context.Context) (way, error) {
	return b.way(ctx, b.floodmark, "mcp", "wrap", "--server", "echo", "--", b.self, "-play", "server")
}

// floor connects through the proxy of [floor]. It shows the least that a durable record of
// every call costs on this machine.
func (b *bench) floor(ctx context.Context) (way, error) {
	return b.way(ctx, b.self, "-play", "floor", "-record", filepath.Join(b.Dir, "record"), "--", b.self, "-play", "server")
}

func (b *bench) way(ctx context.Context, name string, args ...string) (way, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stderr = b.Env, os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return way{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	if _, err := session.ListTools(ctx, nil); err != nil { // as every client does first
		return way{}, errors.Join(err, session.Close())
	}
	return way{ClientSession: session, cmd: cmd}, nil
}

// call calls a tool. It returns how long that took, and an error unless the answer is a text
// of the given size.
func (w way) call(ctx context.Context, tool string, args any, size int) (time.Duration, error) {
	began := time.Now()
	res, err := w.CallTool(ctx, &mcp.CallToolParams{Name: w.prefix + tool, Arguments: args})
	took := time.Since(began)
	if err != nil {
		return took, err
	}
	if len(res.Content) != 1 {
		return took, fmt.Errorf("%s: %d parts", tool, len(res.Content))
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok || res.IsError || len(text.Text) != size {
		return took, fmt.Errorf("%s: not its answer: %+v", tool, res.Content[0])
	}
	return took, nil
}

// pairs times one call after the other, each way in turn.
func (b *bench) pairs(ctx context.Context, o options, e *evidence) error {
	var ways []way
	for _, open := range append(b.ways(), b.floor) {
		w, err := open(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		ways = append(ways, w)
	}
	const warmUp = 20
	random := rand.New(rand.NewPCG(o.seed, 0))
	const direct, bare, wrap, serve, floor, count = 0, 1, 2, 3, 4, 5
	var times [count][]float64
	for n := range o.pairs + warmUp {
		var took [count]float64
		text := fmt.Sprintf("a word and %d more", n)
		for _, which := range random.Perm(len(ways)) {
			d, err := ways[which].call(ctx, "echo", echoArgs{text}, len(text))
			if err != nil {
				return fmt.Errorf("call %d: %w", n, err)
			}
			took[which] = figures.MS(d)
		}
		if n < warmUp {
			continue
		}
		for i := range times {
			times[i] = append(times[i], took[i])
		}
	}
	of := func(i int) figures.Spread { return figures.SpreadOf(times[i]) }
	e.Direct, e.Bare, e.Wrap, e.Serve, e.Floor = of(direct), of(bare), of(wrap), of(serve), of(floor)
	minus := func(a, b float64) float64 { return a - b }
	over := func(a, b float64) float64 { return a / b }
	e.Added, e.Ratio, e.OverBare = each(times[wrap], times[direct], minus), each(times[wrap], times[direct], over), each(times[wrap], times[bare], over)
	e.ServeAdded, e.ServeRatio = each(times[serve], times[direct], minus), each(times[serve], times[direct], over)
	e.FloorRatio, e.OverFloor = each(times[floor], times[direct], over), each(times[wrap], times[floor], over)
	return nil
}

// each applies f to the times of each call on two ways.
func each(a, b []float64, f func(a, b float64) float64) figures.Spread {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = f(a[i], b[i])
	}
	return figures.SpreadOf(list)
}
