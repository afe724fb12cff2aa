package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// startWithin is how long a monitor may take to answer.
const startWithin = 20 * time.Second

// policy describes the tools, so that the monitor lets them pass.
const policy = `version: 1
tools:
  - {server: echo, tool: echo, about: says it again, effect: fetch, own: true, returns: {trust: local, secrecy: internal}, args: {text: {role: content, is: text}}}
  - {server: echo, tool: large, about: says much, effect: fetch, own: true, returns: {trust: local, secrecy: internal}, args: {bytes: {role: content, is: text}}}
`

// A bench is a monitor with a home of its own, and ways to the server.
type bench struct {
	dir, floodmark, self string
	env                  []string
	stop                 func()
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
	// A socket's path must be short, and what lies below /tmp is nobody's own.
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(home, ".fm-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, floodmark: filepath.Join(programs, "floodmark"), self: self, env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}}
	if err := b.monitor(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return b, nil
}

func (b *bench) close() {
	b.stop()
	_ = os.RemoveAll(b.dir)
}

// monitor starts one for this home.
func (b *bench) monitor(ctx context.Context) error {
	path := filepath.Join(b.dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.floodmark, "serve", "--policy", path)
	cmd.Env = b.env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	b.stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	socket := filepath.Join(b.dir, ".local", "state", "floodmark", "run", "hook.sock")
	for began := time.Now(); time.Since(began) < startWithin; time.Sleep(20 * time.Millisecond) {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket); err == nil {
			return conn.Close()
		}
	}
	b.stop()
	return fmt.Errorf("no monitor after %s: %s", startWithin, said.String())
}

// A way is a client with the server, and what stands between them.
type way struct {
	*mcp.ClientSession
	cmd    *exec.Cmd
	prefix string // before the names of tools
	end    func() error
}

// Close ends the client, and what stands between where that does not end with it.
func (w way) Close() error {
	err := w.ClientSession.Close()
	if w.end != nil {
		err = errors.Join(err, w.end())
	}
	return err
}

// ways are all there are, in the order of the figures.
func (b *bench) ways() []func(context.Context) (way, error) {
	return []func(context.Context) (way, error){b.direct, b.bare, b.wrap, b.serve}
}

// direct, bare and wrap are the ways.
func (b *bench) direct(ctx context.Context) (way, error) {
	return b.way(ctx, b.self, "-play", "server")
}

func (b *bench) bare(ctx context.Context) (way, error) {
	return b.way(ctx, b.self, "-play", "proxy", "--", b.self, "-play", "server")
}

func (b *bench) wrap(ctx context.Context) (way, error) {
	return b.way(ctx, b.floodmark, "mcp", "wrap", "--server", "echo", "--", b.self, "-play", "server")
}

func (b *bench) way(ctx context.Context, name string, args ...string) (way, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stderr = b.env, os.Stderr
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

// call calls a tool and wants its answer, not a refusal.
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
	for _, open := range b.ways() {
		w, err := open(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		ways = append(ways, w)
	}
	const warmUp = 20
	random := rand.New(rand.NewPCG(o.seed, 0))
	var times [4][]float64
	var added, ratio, overBare, serveAdded, serveRatio []float64
	for n := range o.pairs + warmUp {
		var took [4]float64
		text := fmt.Sprintf("a word and %d more", n)
		for _, which := range random.Perm(len(ways)) {
			d, err := ways[which].call(ctx, "echo", echoArgs{text}, len(text))
			if err != nil {
				return fmt.Errorf("call %d: %w", n, err)
			}
			took[which] = ms(d)
		}
		if n < warmUp {
			continue
		}
		for i := range times {
			times[i] = append(times[i], took[i])
		}
		added, ratio, overBare = append(added, took[2]-took[0]), append(ratio, took[2]/took[0]), append(overBare, took[2]/took[1])
		serveAdded, serveRatio = append(serveAdded, took[3]-took[0]), append(serveRatio, took[3]/took[0])
	}
	e.Direct, e.Bare, e.Wrap, e.Serve = spreadOf(times[0]), spreadOf(times[1]), spreadOf(times[2]), spreadOf(times[3])
	e.ServeAdded, e.ServeRatio = spreadOf(serveAdded), spreadOf(serveRatio)
	e.Added, e.Ratio, e.OverBare = spreadOf(added), spreadOf(ratio), spreadOf(overBare)
	return nil
}
