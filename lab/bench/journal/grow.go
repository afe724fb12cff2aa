package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/monitor"
)

const (
	inflight       = 64
	activeSessions = 20_000
	fromDisk       = 4_000
	longSample     = 1_000
	startTime      = 2 * time.Minute
)

// An asker has events judged, through a socket or in this process.
type asker interface {
	ask(ctx context.Context, worker int, ev hook.Event) error
	cpu() time.Duration // the computing time of all events so far
}

// inside asks a monitor in this process.
type inside struct{ *monitor.Monitor }

func (m inside) ask(ctx context.Context, _ int, ev hook.Event) error {
	reply, err := m.Handle(ctx, "", ev)
	return answered(ev, reply, err)
}

func (inside) cpu() time.Duration { return cpuTime() }

// A node is a running daemon.
type node struct {
	cmd     *exec.Cmd
	clients []*client.Client
	first   time.Duration // from its start to its first answer
}

// perClient is how many connections one client keeps open.
const perClient = 16

// start starts floodmark serve and waits for its first answer.
func start(ctx context.Context, o options, dir string, session int) (*node, error) {
	n := &node{cmd: exec.CommandContext(ctx, o.program, "serve", "--dir", dir)}
	n.cmd.Stderr = os.Stderr
	for range inflight / perClient {
		c, err := client.Dial(config.DirPaths(dir).HookSocket, client.Options{})
		if err != nil {
			return nil, err
		}
		n.clients = append(n.clients, c)
	}
	began := time.Now()
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	for k := 0; ; k++ {
		_, err := n.clients[0].Handle(ctx, question(sessionName(session), 8))
		if err == nil {
			break
		}
		if time.Since(began) > startTime || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("the daemon does not answer: %w", err), n.end(syscall.SIGKILL))
		}
		time.Sleep(2 * time.Millisecond)
	}
	n.first = time.Since(began)
	return n, nil
}

func (n *node) end(how syscall.Signal) error {
	for _, c := range n.clients {
		c.Close()
	}
	if err := n.cmd.Process.Signal(how); err != nil {
		return err
	}
	err := n.cmd.Wait()
	if how == syscall.SIGKILL {
		return nil // a killed process ends with an error
	}
	return err
}

func (n *node) ask(ctx context.Context, worker int, ev hook.Event) error {
	reply, err := n.clients[worker/perClient].Handle(ctx, ev)
	return answered(ev, reply, err)
}

// tick is the unit in which Linux counts the computing time of a process.
const tick = 10 * time.Millisecond

// cpu returns the computing time of the daemon, or 0 if the system does not say.
func (n *node) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ") // after the name of the program
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * tick
}

// memory returns a number of bytes from /proc/PID/status of the daemon, such as VmRSS.
func (n *node) memory(name string) (int64, error) { return memoryOf(n.cmd.Process.Pid, name) }

func memoryOf(pid int, name string) (int64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("the system does not say %s", name)
}

// askAll asks one question in each of the listed sessions, 64 at once.
func askAll(ctx context.Context, a asker, list []int, k int) (spread50, error) {
	var next atomic.Int64
	var mu sync.Mutex // guards times
	times := make([]time.Duration, 0, len(list))
	began, used := time.Now(), a.cpu()
	workers := make(chan int, inflight)
	for w := range inflight {
		workers <- w
	}
	err := together(inflight, func() error {
		w := <-workers
		for {
			i := int(next.Add(1)) - 1
			if i >= len(list) {
				return nil
			}
			start := time.Now()
			if err := a.ask(ctx, w, question(sessionName(list[i]), k+i%8)); err != nil {
				return err
			}
			took := time.Since(start)
			mu.Lock()
			times = append(times, took)
			mu.Unlock()
		}
	})
	all := time.Since(began)
	return spread50{
		P50: millis(times, 0.5), P99: millis(times, 0.99), Count: len(times),
		PerSecond: math.Round(float64(len(times)) / all.Seconds()),
		CPU:       round(float64((a.cpu() - used).Microseconds()) / 1000 / float64(max(1, len(times)))),
	}, err
}

func millis(times []time.Duration, q float64) float64 {
	return math.Round(quantile(times, q)/float64(time.Millisecond)*100) / 100
}

func ms(d time.Duration) float64 { return math.Round(d.Seconds()*10000) / 10 }

// A draw holds randomly chosen sessions, no session twice.
type draw struct{ disk, active, long []int }

func newDraw(n int, r *rand.Rand) (d draw) {
	for _, i := range r.Perm(n) {
		switch {
		case long(i):
			if len(d.long) < longSample {
				d.long = append(d.long, i)
			}
		case len(d.disk) < min(fromDisk, n/10):
			d.disk = append(d.disk, i)
		case len(d.active) < min(activeSessions, n*8/10):
			d.active = append(d.active, i)
		}
	}
	return d
}

// grow measures a node with one store: its starts, one of them with a cold disk, and then
// cold, warm and long sessions. It measures sessions first through the daemon's socket, then
// in this process.
func grow(ctx context.Context, o options, dir string, n int) (grown, error) {
	store := config.DirPaths(dir).Journal
	r := rand.New(rand.NewPCG(o.seed, uint64(time.Now().UnixNano())))
	g := grown{Sessions: n}
	d := newDraw(n, r)
	if err := g.starts(ctx, o, dir, d); err != nil {
		return g, err
	}
	if err := dropCache(store); err != nil {
		return g, err
	}
	node, err := start(ctx, o, dir, d.active[2])
	if err != nil {
		return g, err
	}
	g.FirstDiskCold = ms(node.first)
	err = g.socket(ctx, o, node, store, d)
	if err := errors.Join(err, node.end(syscall.SIGTERM)); err != nil {
		return g, err
	}
	info, err := os.Stat(store)
	if err != nil {
		return g, err
	}
	g.StoreBytes = info.Size()
	return g, g.process(ctx, dir, newDraw(n, r))
}

// starts measures how soon a daemon answers after it was stopped, and after it was killed.
func (g *grown) starts(ctx context.Context, o options, dir string, d draw) error {
	node, err := start(ctx, o, dir, d.active[0])
	if err != nil {
		return err
	}
	if err := node.end(syscall.SIGTERM); err != nil {
		return err
	}
	if node, err = start(ctx, o, dir, d.active[0]); err != nil {
		return err
	}
	g.FirstAnswer = ms(node.first)
	_, err = askAll(ctx, node, d.disk, 16)
	if err := errors.Join(err, node.end(syscall.SIGKILL)); err != nil {
		return err
	}
	if node, err = start(ctx, o, dir, d.active[1]); err != nil {
		return err
	}
	g.FirstAfterKill = ms(node.first)
	return node.end(syscall.SIGTERM)
}

func (g *grown) socket(ctx context.Context, o options, node *node, store string, d draw) (err error) {
	if g.RestingBytes, err = node.memory("VmRSS"); err != nil {
		return err
	}
	if g.Socket.ColdDisk, err = askAll(ctx, node, d.disk, 24); err != nil {
		return err
	}
	if err := readAll(store); err != nil {
		return err
	}
	began := time.Now()
	if g.Socket.Cold, err = askAll(ctx, node, d.active, 32); err != nil {
		return err
	}
	g.Active, g.ActiveInSeconds = len(d.active), math.Round(time.Since(began).Seconds()*10)/10
	if g.Socket.Warm, err = askAll(ctx, node, d.active, 40); err != nil {
		return err
	}
	if g.ActiveBytes, err = node.memory("VmRSS"); err != nil {
		return err
	}
	if g.Socket.ColdLong, err = askAll(ctx, node, d.long, 200); err != nil {
		return err
	}
	if g.PeakBytes, err = node.memory("VmHWM"); err != nil || !o.busy() {
		return err
	}
	return g.work(ctx, o, node)
}

// process measures decisions without a socket and without a second process.
func (g *grown) process(ctx context.Context, dir string, d draw) (err error) {
	paths := config.DirPaths(dir)
	keys, err := config.LoadKeys(paths.Keys, "floodmark/journal")
	if err != nil {
		return err
	}
	rules, err := config.LoadRules(paths.Policy)
	if err != nil {
		return err
	}
	if err := dropCache(paths.Journal); err != nil {
		return err
	}
	j, err := sqlitejournal.Open(ctx, paths.Journal, sqlitejournal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	m, err := newMonitor(j, rules.Rules, keys.Index, time.Now, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(m.Close(), err) }()
	ask := inside{m}
	if g.Process.ColdDisk, err = askAll(ctx, ask, d.disk, 48); err != nil {
		return err
	}
	if err := readAll(paths.Journal); err != nil {
		return err
	}
	if g.Process.Cold, err = askAll(ctx, ask, d.active, 56); err != nil {
		return err
	}
	if g.Process.Warm, err = askAll(ctx, ask, d.active, 64); err != nil {
		return err
	}
	g.Process.ColdLong, err = askAll(ctx, ask, d.long, 208)
	return err
}

// dropCache removes a file from the system's memory.
func dropCache(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// readAll reads a file, so that as much of it as fits is in the system's memory.
func readAll(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(struct{ io.Writer }{io.Discard}, f) // a plain Writer, so that nothing like sendfile is used
	return err
}
