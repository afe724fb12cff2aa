package mcpservice

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/embedded"
	"github.com/floodmark/floodmark/internal/mcp/mcpgateway"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/setup/config"
)

func shared(s config.GatewayServer) config.GatewayServer {
	s.Shared = true
	return s
}

// All clients use one process of a shared server and one of their own of any
// other. The monitor hears which is which.
func TestOneServerForAllClients(t *testing.T) {
	r := run(t, shared(child("all")), child("own"), shared(remote(t, "far")))
	pids := map[string]bool{}
	own := map[string]bool{}
	for i := range 5 {
		c := r.connect(t, fmt.Sprint("client", i), "", nil)
		for set, tool := range map[*map[string]bool]string{&pids: "all__pid", &own: "own__pid"} {
			pid, err := call(t.Context(), c, tool, "")
			if err != nil {
				t.Fatal(err)
			}
			(*set)[pid] = true
		}
		if got, err := call(t.Context(), c, "far__echo", "x"); got != "x" {
			t.Errorf("%q, %v", got, err)
		}
		if i == 2 {
			_ = c.Close() // the server goes on
		}
	}
	if len(pids) != 1 || len(own) != 5 {
		t.Errorf("%d shared processes, %d of clients' own", len(pids), len(own))
	}
	r.judge.mu.Lock()
	defer r.judge.mu.Unlock()
	for name, want := range map[string]bool{"all": true, "far": true, "own": false} {
		if r.judge.shared[name] != want {
			t.Errorf("the monitor was told of %s: %v", name, r.judge.shared[name])
		}
	}
}

// When a shared server ends, every waiting client gets an error that names the server and says what
// to do. Other servers go on, and the shared one is restarted once for all clients.
func TestKillOfASharedServer(t *testing.T) {
	r := run(t, shared(child("all")), shared(child("other")))
	begun := make(chan int, 100)
	var clients []*mcp.ClientSession
	for i := range 5 {
		clients = append(clients, r.connect(t, fmt.Sprint("client", i), "", &mcp.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { begun <- 1 },
		}))
	}
	pid, err := call(t.Context(), clients[0], "all__pid", "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 3)
	for _, c := range clients[:3] {
		params := &mcp.CallToolParams{Name: "all__hang", Arguments: words{}}
		params.SetProgressToken("t")
		go func() { _, err := c.CallTool(t.Context(), params); ended <- err }()
		<-begun
	}
	if err := r.kill(pid); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "all") || !strings.Contains(err.Error(), "call again") {
			t.Errorf("the open call: %v", err)
		}
	}
	if len(begun) > 0 {
		t.Errorf("%d more heard of progress", len(begun))
	}
	next := map[string]bool{}
	for i, c := range clients {
		if got, err := call(t.Context(), c, "other__echo", "x"); got != "x" {
			t.Errorf("%q, %v", got, err)
		}
		again, err := call(t.Context(), c, "all__pid", "")
		if i >= 3 && err != nil && strings.Contains(err.Error(), "the next call starts it again") {
			again, err = call(t.Context(), c, "all__pid", "") // the client had not noticed the end yet
		}
		if err != nil {
			t.Errorf("the next call: %v", err)
		}
		next[again] = true
	}
	if len(next) != 1 || next[pid] {
		t.Errorf("it was started again as %v", next)
	}
}

// A client that cancels its call, or leaves, does not cancel another client's call.
func TestACancelOfAnothersCall(t *testing.T) {
	r := run(t, shared(child("all")))
	var progress sync.WaitGroup
	progress.Add(2)
	connect := func(name string) *mcp.ClientSession {
		return r.connect(t, name, "", &mcp.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.Done() },
		})
	}
	a, b := connect("anna"), connect("ben")
	hang := func(ctx context.Context, c *mcp.ClientSession) chan error {
		ended := make(chan error, 1)
		params := &mcp.CallToolParams{Name: "all__hang", Arguments: words{}}
		params.SetProgressToken("t")
		go func() { _, err := c.CallTool(ctx, params); ended <- err }()
		return ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	ofA, ofB := hang(t.Context(), a), hang(ctx, b)
	progress.Wait()
	cancel()
	<-ofB
	_ = b.Close()
	if got, err := call(t.Context(), a, "all__echo", "x"); got != "x" {
		t.Errorf("%q, %v", got, err)
	}
	select {
	case err := <-ofA:
		t.Errorf("the call of another client ended: %v", err)
	default:
	}
	_ = r.stop()
	<-ofA
}

// An accepted has accepted all definitions.
type accepted struct{}

func (accepted) See(_ context.Context, _, _ string, defs []mcppins.Definition) ([]mcppins.Verdict, error) {
	list := make([]mcppins.Verdict, len(defs))
	for i := range list {
		list[i].Accepted = true
	}
	return list, nil
}

const sharedPolicy = `version: 1
profile: dry-run
tools:
  - {server: web, tool: echo, about: reads a page, effect: fetch, returns: {trust: untrusted, secrecy: public}, args: {text: {role: content, is: text}}}
  - {server: box, tool: echo, about: writes a note, effect: write, returns: {trust: local, secrecy: public}, args: {text: {role: content, is: text}}}
  - {server: box, tool: pid, about: reads notes, effect: observe, returns: {trust: local, secrecy: public}, args: {text: {role: content, is: text}}}
`

// With a real monitor: after one client has read a page and written to a shared server, another
// client's results from that server have less trust. They still do after a restart of gateway and
// monitor.
func TestWhatASharedServerSaysCarriesTheJoin(t *testing.T) {
	dir := t.TempDir()
	life := func(f func(connect func(string) *mcp.ClientSession)) {
		guard, err := embedded.Open(dir, sharedPolicy)
		if err != nil {
			t.Fatal(err)
		}
		defer guard.Close()
		r := runWith(t, func(o *Options) { o.Judge, o.Pins = guard, accepted{} }, shared(child("box")), child("web"))
		f(func(name string) *mcp.ClientSession { return r.connect(t, name, "", nil) })
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	}
	label := func(c *mcp.ClientSession, tool string) string {
		t.Helper()
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: words{"x"}})
		if err != nil || res.IsError {
			t.Fatalf("%s: %v, %v", tool, res, err)
		}
		return fmt.Sprint(res.Meta[mcpgateway.LabelKey])
	}
	const clean, low = "map[secrecy:public trust:local]", "map[secrecy:public trust:untrusted]"
	life(func(connect func(string) *mcp.ClientSession) {
		a, b := connect("anna"), connect("ben")
		if got := label(a, "box__echo"); got != clean {
			t.Errorf("before anything was read: %s", got)
		}
		if got := label(a, "web__echo"); got != low {
			t.Errorf("a page: %s", got)
		}
		if got := label(b, "box__pid"); got != clean {
			t.Errorf("before a wrote: %s", got)
		}
		if label(a, "box__pid"); label(connect("carla"), "box__pid") != clean {
			t.Error("reading is no writing")
		}
		label(a, "box__echo")
		if got := label(b, "box__pid"); got != low {
			t.Errorf("after a wrote: %s", got)
		}
		if got := label(b, "web__echo"); got != low {
			t.Errorf("b itself: %s", got)
		}
	})
	life(func(connect func(string) *mcp.ClientSession) {
		if got := label(connect("dora"), "box__pid"); got != low {
			t.Errorf("in the next life: %s", got)
		}
	})
}
