package mcpservice

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/mcppins"
)

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, asDeaf) {
		deaf()
		return
	}
	if slices.Contains(os.Args, asPost) {
		if err := post().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	if slices.Contains(os.Args, asServer) {
		if err := server("child").Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// asServer is the argument that makes this test program a server.
const asServer = "-be-an-mcp-server"

// asDeaf makes it one that stops reading after it was initialized.
const asDeaf = "-be-deaf"

func deaf() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<16), 1<<16)
	for range 2 {
		if in.Scan() {
			fmt.Println(`{"jsonrpc":"2.0","id":` + regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(in.Text() + `"id":0`)[1] +
				`,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"deaf","version":"1"}}}`)
		}
	}
	time.Sleep(time.Minute)
}

type words struct {
	Text string `json:"text"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// server is a real server that says who it is.
func server(name string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	type handler = func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error)
	add := func(tool string, h handler) { mcp.AddTool(s, &mcp.Tool{Name: tool}, h) }
	add("echo", func(_ context.Context, _ *mcp.CallToolRequest, w words) (*mcp.CallToolResult, any, error) {
		return text(w.Text), nil, nil
	})
	add("pid", func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return text(strconv.Itoa(os.Getpid())), nil, nil
	})
	add("environment", func(context.Context, *mcp.CallToolRequest, words) (*mcp.CallToolResult, any, error) {
		return text(strings.Join(os.Environ(), "\n")), nil, nil
	})
	add("hang", func(ctx context.Context, r *mcp.CallToolRequest, _ words) (*mcp.CallToolResult, any, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s
}

// overHTTP serves a real server over HTTP to who has the key.
func overHTTP(t *testing.T) string {
	t.Helper()
	s := server("remote")
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

// judge allows all but what it was told to refuse, and keeps what it was asked.
type judge struct {
	mu     sync.Mutex
	refuse string // a tool
	calls  []string
	who    map[floodmark.SessionID]string
	shared map[string]bool // the servers that are said to be
	ended  int
	told   []string // every event as a text
	// claims and caller are what the last event said of the client
	claims floodmark.SessionID
	caller hook.Process
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
		j.ended++
	}
	if ev.Point == hook.BeforeToolCall {
		j.calls = append(j.calls, ev.Call.Server+"/"+ev.Call.Name)
		if ev.Call.Name == j.refuse {
			return hook.Reply{Line: "not this one"}, nil
		}
	}
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}}, nil
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
	mu    sync.Mutex
	notes []string
}

func child(t *testing.T, name string) config.GatewayServer {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return config.GatewayServer{Name: name, Command: program, Args: []string{asServer}, Env: map[string]config.Secret{"OWN": config.NewSecret("own-" + name)}}
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
	r := &running{judge: &judge{}}
	o := Options{
		Gateway: config.Gateway{Servers: servers}, Judge: r.judge, Pins: seen{}, Stderr: os.Stderr, Version: "1",
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

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s: it did not come to this", what)
}

// gone says whether a process is there no more, not even as a zombie.
func gone(pid string) bool {
	_, err := os.Stat("/proc/" + pid)
	return errors.Is(err, os.ErrNotExist)
}
