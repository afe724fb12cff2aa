package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// mcpCounts are the counts of a run. expected counts the errors that name a killed server.
type mcpCounts struct {
	mu                                sync.Mutex
	calls, expected, lives, kills     int
	waiting, others, again            int
	definitions, unjudged             int
	in                                map[int]bool // clients that have come in once
	allIn                             time.Time
	killed                            map[string]time.Time
	slowest, tookAgain, tookToConnect time.Duration
}

func (w *mcpWorld) pins() string { return config.DirPaths(w.dir).Pins }

// A mcpBearer adds a token to every request.
type mcpBearer struct {
	token string
	next  *http.Transport
}

func (b mcpBearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// A mcpClient is one session of a client, with its connections.
type mcpClient struct {
	*mcp.ClientSession
	next *http.Transport
}

func (c *mcpClient) Close() error {
	err := c.ClientSession.Close()
	c.next.CloseIdleConnections()
	return err
}

func (w *mcpWorld) connect(ctx context.Context, g *mcpGateway, i int) (*mcpClient, error) {
	next := &http.Transport{IdleConnTimeout: 5 * time.Second}
	c, err := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprint("client", i), Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: g.url, HTTPClient: &http.Client{Transport: mcpBearer{w.tokens[i%len(w.tokens)], next}}, MaxRetries: -1,
	}, nil)
	if err != nil {
		next.CloseIdleConnections()
		return nil, err
	}
	return &mcpClient{c, next}, nil
}

// live plays one client until ctx ends: it connects, lists the tools, calls some of them,
// disconnects, and connects again.
func (w *mcpWorld) live(ctx context.Context, g *mcpGateway, i int) {
	slot := i
	if g == w.alone {
		slot += *mcpClients
	}
	random := rand.New(rand.NewPCG(*seed, uint64(slot)))
	about := func(d time.Duration) time.Duration { return d/2 + time.Duration(random.Int64N(int64(d))) }
	rest(ctx, time.Duration(random.Int64N(int64(*mcpLife)/2))) // not all connect at once
	for ctx.Err() == nil {
		began := time.Now()
		c, err := w.connect(context.WithoutCancel(ctx), g, i)
		if err != nil {
			w.t.Errorf("a client cannot come in: %v", err)
			return
		}
		for _, err := range c.Tools(context.WithoutCancel(ctx), nil) {
			if err != nil {
				w.t.Errorf("tools: %v", err)
			}
		}
		w.counts.mu.Lock()
		w.counts.lives++
		if w.counts.in[slot] = true; len(w.counts.in) == *mcpClients+*mcpAlone && w.counts.allIn.IsZero() {
			w.counts.allIn = time.Now()
		}
		w.counts.tookToConnect = max(w.counts.tookToConnect, time.Since(began))
		w.counts.mu.Unlock()
		for until := began.Add(about(*mcpLife)); time.Now().Before(until) && ctx.Err() == nil; {
			w.call(c, g.servers[random.IntN(len(g.servers))])
			rest(ctx, about(*mcpPause))
		}
		if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
			w.t.Logf("a client leaves: %v", err)
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// call makes one call and reports whether it was answered. An error must name the server, which
// must have been killed not long before.
func (w *mcpWorld) call(c *mcpClient, s mcpServer) bool {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := failed(c.CallTool(ctx, &mcp.CallToolParams{Name: s.name + "__" + s.tool, Arguments: s.args}))
	took := time.Since(began)
	w.counts.mu.Lock()
	defer w.counts.mu.Unlock()
	w.counts.calls++
	w.counts.slowest = max(w.counts.slowest, took)
	if err == nil {
		return true
	}
	if strings.Contains(err.Error(), "the monitor did not answer") || strings.Contains(err.Error(), "was not taken in") || strings.Contains(err.Error(), "it was not judged") {
		w.counts.unjudged++ // the monitor was too slow on a busy machine, so the call was refused
		return false
	}
	killed, ok := w.counts.killed[s.name]
	if !ok || began.Sub(killed) > time.Minute+2**mcpKill || !strings.Contains(err.Error(), s.name) {
		w.t.Errorf("%s: %v (killed %v)", s.name, err, killed)
	}
	w.counts.expected++
	return false
}

// failed returns the error of a call, even if the call came back as a failure of the tool.
func failed(res *mcp.CallToolResult, err error) error {
	if err != nil || !res.IsError {
		return err
	}
	if len(res.Content) > 0 {
		if said, ok := res.Content[0].(*mcp.TextContent); ok {
			return errors.New(said.Text)
		}
	}
	return errors.New("an error without a text")
}

// kills kills a server now and then, while a client waits for the server, and checks what follows.
func (w *mcpWorld) kills(ctx context.Context) {
	w.counts.mu.Lock()
	w.counts.killed = map[string]time.Time{}
	w.counts.mu.Unlock()
	for n := 0; ; n++ {
		rest(ctx, *mcpKill)
		if ctx.Err() != nil {
			return
		}
		g := w.together
		if n%4 == 3 {
			g = w.alone
		}
		waits := slices.DeleteFunc(slices.Clone(g.servers), func(s mcpServer) bool { return s.wait == "" })
		w.kill(context.WithoutCancel(ctx), g, waits[w.random.IntN(len(waits))])
	}
}

// kill kills a server with SIGKILL while a client waits for it.
func (w *mcpWorld) kill(ctx context.Context, g *mcpGateway, s mcpServer) {
	c, err := w.connect(ctx, g, 1)
	if err != nil {
		w.t.Errorf("a client cannot come in: %v", err)
		return
	}
	defer c.Close()
	if !w.call(c, s) {
		return // the server was killed before
	}
	pids := w.processes(g, s.name)
	if g == w.alone { // there each client has a process of the server
		pids = w.ownProcess(ctx, c, s)
	}
	if len(pids) != 1 {
		w.t.Errorf("%d processes of %s", len(pids), s.name)
		return
	}
	ended := make(chan error, 1)
	go func() {
		ended <- failed(c.CallTool(ctx, &mcp.CallToolParams{Name: s.name + "__" + s.wait, Arguments: s.long}))
	}()
	time.Sleep(2 * time.Second) // until the call has passed the monitor and reached the server
	w.counts.mu.Lock()
	w.counts.kills++
	w.counts.killed[s.name] = time.Now()
	w.counts.mu.Unlock()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.afterKill(c, g, s, ended)
}

// afterKill checks what a client whose server was killed gets: an error for the waiting call,
// answers of other servers, and after a while answers of the same server again.
func (w *mcpWorld) afterKill(c *mcpClient, g *mcpGateway, s mcpServer, ended chan error) {
	if err := <-ended; err == nil || !strings.Contains(err.Error(), s.name) || !strings.Contains(err.Error(), "again") {
		w.t.Errorf("the call that waited for %s: %v", s.name, err)
	} else {
		w.counts.mu.Lock()
		w.counts.waiting++
		w.counts.mu.Unlock()
	}
	for _, other := range g.servers {
		if _, killed := w.counts.killed[other.name]; other.name != s.name && !killed && w.call(c, other) {
			w.counts.mu.Lock()
			w.counts.others++
			w.counts.mu.Unlock()
			break
		}
	}
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
		if w.call(c, s) {
			w.counts.mu.Lock()
			w.counts.again++
			w.counts.tookAgain = max(w.counts.tookAgain, time.Since(began))
			w.counts.mu.Unlock()
			return
		}
	}
	w.t.Errorf("%s did not come again", s.name)
}

// ownProcess asks a server of a client's own which process it is.
func (w *mcpWorld) ownProcess(ctx context.Context, c *mcpClient, s mcpServer) []int {
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: s.name + "__" + s.tool, Arguments: map[string]any{"text": "pid"}})
	if err := failed(res, err); err != nil {
		w.t.Errorf("%s: %v", s.name, err)
		return nil
	}
	said, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		return nil
	}
	pid, err := strconv.Atoi(said.Text)
	if err != nil {
		return nil
	}
	return []int{pid}
}

// processes returns the children of a gateway that run this server.
func (w *mcpWorld) processes(g *mcpGateway, name string) []int {
	var list []int
	for _, pid := range childrenOf(g.cmd.Process.Pid) {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // the process may have ended
		if strings.Contains(string(env), mcpVariable+"="+name+"\x00") || strings.Contains(string(env), string(filepath.Separator)+name+".json\x00") {
			list = append(list, pid)
		}
	}
	return list
}

// childrenOf returns the children of a process.
func childrenOf(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var all []int
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}
