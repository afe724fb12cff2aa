package mcpservice

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
	"github.com/floodmark/floodmark/internal/setup/config"
)

type words struct {
	Text string `json:"text"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// server is a real server that says which process it is, and what its variables are.
func server(name, process string, env []string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	type handler = func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error)
	add := func(tool string, h handler) { mcp.AddTool(s, &mcp.Tool{Name: tool}, h) }
	add("echo", func(_ context.Context, _ *mcp.CallToolRequest, w words) (*mcp.CallToolResult, any, error) {
		return text(w.Text), nil, nil
	})
	add("pid", func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return text(process), nil, nil
	})
	add("environment", func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return text(strings.Join(env, "\n")), nil, nil
	})
	add("hang", func(ctx context.Context, r *mcp.CallToolRequest, _ words) (*mcp.CallToolResult, any, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s
}

// overHTTP serves a real server over HTTP to clients with the key.
func overHTTP(t *testing.T) string {
	t.Helper()
	s := server("remote", "remote", nil)
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "remote-key" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// A judge allows everything but one tool, and records the events.
type judge struct {
	mu     sync.Mutex
	refuse string // a tool
	calls  []string
	who    map[floodmark.SessionID]string
	shared map[string]bool // the servers that are said to be
	told   []string        // every event as a text
	// claims and caller are what the last event said about the client.
	claims floodmark.SessionID
	caller hook.Process
	ended  chan floodmark.SessionID // gets each session that ended
}

func (j *judge) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.told, "\n")
}

func (j *judge) Handle(_ context.Context, ev hook.Event) (hook.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.who == nil {
		j.who, j.shared = map[floodmark.SessionID]string{}, map[string]bool{}
	}
	j.who[ev.Session], j.claims, j.caller = ev.Agent, ev.Claims, ev.Caller
	j.told = append(j.told, fmt.Sprintf("%+v", ev))
	if ev.Shared != "" {
		j.shared[ev.Shared] = true
	}
	if ev.Point == hook.SessionEnd {
		j.ended <- ev.Session
	}
	if ev.Point == hook.BeforeToolCall {
		j.calls = append(j.calls, ev.Call.Server+"/"+ev.Call.Name)
		if ev.Call.Name == j.refuse {
			return hook.Reply{Line: "not this one"}, nil
		}
	}
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
}

func (j *judge) sessions() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.who)
}

// seen holds nothing.
type seen struct{}

func (seen) See(_ context.Context, _, _ string, defs []mcppins.Definition) ([]mcppins.Verdict, error) {
	return make([]mcppins.Verdict, len(defs)), nil
}

// A running is a gateway on a real socket.
type running struct {
	*Service
	judge *judge
	url   string
	stop  func() error

	mu    sync.Mutex // guards what is below
	noted sync.Cond  // notes has one more
	notes []string
	lives map[string]mcp.Connection // servers in memory that were started, by their names as processes
}

// child returns a server with a command, which [running.start] starts in memory.
func child(name string) config.GatewayServer {
	return config.GatewayServer{Name: name, Command: name, Env: map[string]config.Secret{"OWN": config.NewSecret("own-" + name)}}
}

// start starts a server in memory, as a process of its own.
func (r *running) start(c mcpstdio.Command) (mcp.Connection, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Env == nil {
		c.Env = os.Environ() // as of a process
	}
	process := fmt.Sprint(c.Args[0], len(r.lives))
	near, far := mcp.NewInMemoryTransports()
	if _, err := server("child", process, c.Env).Connect(context.Background(), far, nil); err != nil {
		return nil, err
	}
	conn, err := near.Connect(context.Background())
	r.lives[process] = conn
	return conn, err
}

// kill ends a server in memory, as by kill -9.
func (r *running) kill(process string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives[process].Close()
}

// reads waits for a note with this text, and returns all notes.
func (r *running) reads(part string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !strings.Contains(strings.Join(r.notes, ""), part) {
		r.noted.Wait()
	}
	return strings.Join(r.notes, "")
}

func remote(t *testing.T, name string) config.GatewayServer {
	t.Helper()
	return config.GatewayServer{Name: name, URL: overHTTP(t), Headers: map[string]config.Secret{"X-Key": config.NewSecret("remote-key")}}
}

func run(t *testing.T, servers ...config.GatewayServer) *running {
	t.Helper()
	return runWith(t, func(*Options) {}, servers...)
}

func runWith(t *testing.T, with func(*Options), servers ...config.GatewayServer) *running {
	t.Helper()
	r := &running{judge: &judge{ended: make(chan floodmark.SessionID, 1000)}, lives: map[string]mcp.Connection{}}
	r.noted.L = &r.mu
	o := Options{
		start: r.start, Gateway: config.Gateway{Servers: servers}, Judge: r.judge, Pins: seen{}, Stderr: os.Stderr, Version: "1",
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()},
		Admit: func(token string) (string, error) {
			if name, ok := strings.CutPrefix(token, "of-"); ok {
				return name, nil
			}
			return "", errors.New("no such token")
		},
		Note: func(server, line string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.notes = append(r.notes, server+": "+line)
			r.noted.Broadcast()
		},
	}
	with(&o)
	r.Service = New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String() + Path
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, l) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// bearer adds a client's headers.
type bearer struct {
	client, join string
	next         *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer of-"+b.client)
	if b.join != "" {
		r.Header.Set("Floodmark-Session", b.join)
		r.Header.Set("Floodmark-Agent", "codex")
	}
	return b.next.RoundTrip(r)
}

func (r *running) connect(t *testing.T, name, join string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	next := &http.Transport{IdleConnTimeout: 50 * time.Millisecond}
	c, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, opts).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: r.url, HTTPClient: &http.Client{Transport: bearer{name, join, next}}, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); next.CloseIdleConnections() })
	return c
}

func call(ctx context.Context, c *mcp.ClientSession, name, arg string) (string, error) {
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: words{arg}})
	if err != nil {
		return "", err
	}
	if len(res.Content) == 0 {
		return "", errors.New("nothing in it")
	}
	said := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		return "", errors.New(said)
	}
	return said, nil
}
