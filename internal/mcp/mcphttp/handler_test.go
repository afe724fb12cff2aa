package mcphttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type words struct {
	Text string `json:"text"`
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

type odd struct {
	mcp.ParamsBase
	Text string `json:"text"`
}

type oddResult struct {
	mcp.ResultBase
	Text string `json:"text"`
}

// example returns a real server with one tool of each kind.
func example() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, w words) (*mcp.CallToolResult, any, error) {
		return said(w.Text), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, w words) (*mcp.CallToolResult, any, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		return said(w.Text), nil, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ words) (*mcp.CallToolResult, any, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}})
		if err != nil {
			return nil, nil, err
		}
		return said(got.Action), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "hang"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ words) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s
}

// A gate is a Handler in front of real servers, in a bubble.
type gate struct {
	*Handler
	url    string
	net    *memory
	server *mcp.Server
	mu     sync.Mutex
	peers  []Peer
}

func newGate(t *testing.T, opts Options) *gate {
	t.Helper()
	g := &gate{server: example()}
	opts.Admit = func(token string) (string, error) {
		if name, ok := strings.CutPrefix(token, "secret-of-"); ok {
			return name, nil
		}
		return "", errors.New("no such token")
	}
	opts.Open = func(ctx context.Context, p Peer) (mcp.Connection, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.peers = append(g.peers, p)
		if p.Client == "unlucky" {
			return nil, errors.New("out of order")
		}
		near, far := mcp.NewInMemoryTransports()
		if _, err := g.server.Connect(context.WithoutCancel(ctx), far, nil); err != nil {
			return nil, err
		}
		return near.Connect(ctx)
	}
	g.Handler = NewHandler(opts)
	g.url, g.net = serve(t, g.Handler)
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// bearer adds a client's headers.
type bearer struct {
	client, join string
	next         *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer secret-of-"+b.client)
	if b.join != "" {
		r.Header.Set(SessionHeader, b.join)
	}
	return b.next.RoundTrip(r)
}

func (g *gate) connect(t *testing.T, name string, opts *mcp.ClientOptions, noGET bool) *mcp.ClientSession {
	t.Helper()
	next := g.net.transport()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, opts)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: g.url, DisableStandaloneSSE: noGET, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: bearer{name, "joined-" + name, next}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); next.CloseIdleConnections() })
	return session
}

func call(ctx context.Context, c *mcp.ClientSession, name, text string, token any) (string, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: words{text}}
	if token != nil {
		params.SetProgressToken(token)
	}
	res, err := c.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	return res.Content[0].(*mcp.TextContent).Text, nil
}

// settled waits in a bubble until all goroutines are idle, and then checks a condition.
func settled(t *testing.T, what string, ok func() bool) {
	t.Helper()
	synctest.Wait()
	if !ok() {
		t.Fatalf("%s: it did not come to this", what)
	}
}

func TestAClientOverHTTP(t *testing.T) {
	for _, noGET := range []bool{false, true} {
		t.Run(fmt.Sprintf("without GET %v", noGET), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(t, Options{})
				steps, changes := make(chan any, 10), make(chan int, 10)
				c := g.connect(t, "anna", &mcp.ClientOptions{
					ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
						steps <- r.Params.ProgressToken
					},
					ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changes <- 1 },
					ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						return &mcp.ElicitResult{Action: "decline"}, nil
					},
				}, noGET)
				if got, err := call(t.Context(), c, "echo", "hello", nil); got != "hello" {
					t.Errorf("%q, %v", got, err)
				}
				// Two calls at once: each gets its own progress on its own stream.
				var calls sync.WaitGroup
				for _, token := range []string{"x", "y"} {
					calls.Go(func() {
						if got, err := call(t.Context(), c, "steps", token, token); got != token {
							t.Errorf("%q, %v", got, err)
						}
					})
				}
				calls.Wait()
				if a, b := <-steps, <-steps; a == b {
					t.Errorf("progress of %v twice", a)
				}
				if got, err := call(t.Context(), c, "ask", "", nil); got != "decline" {
					t.Errorf("%q, %v", got, err)
				}
				if !noGET {
					g.server.RemoveTools("hang")
					<-changes
				}
				if p := g.peers[0]; p.Client != "anna" || p.Join != "joined-anna" || p.ID != c.ID() || len(p.ID) < 20 {
					t.Errorf("%+v", p)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				settled(t, "DELETE ends the session", func() bool { return g.Sessions() == 0 })
			})
		})
	}
}

func TestUnknownMethodsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{})
		err := mcp.AddReceivingCustomMethod(g.server, "odd/method", func(_ context.Context, _ *mcp.ServerSession, p *odd) (*oddResult, error) {
			return &oddResult{Text: "odd " + p.Text}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		id := g.begin(t, "anna")
		status, body := g.post(t, "anna", id, `{"jsonrpc":"2.0","id":5,"method":"odd/method","params":{"text":"x"}}`, nil)
		if status != http.StatusOK || !strings.Contains(body, `"odd x"`) {
			t.Errorf("%d %s", status, body)
		}
		status, body = g.post(t, "anna", id, `{"jsonrpc":"2.0","method":"notifications/odd"}`, nil)
		if status != http.StatusAccepted {
			t.Errorf("%d %s", status, body)
		}
		status, body = g.post(t, "anna", id, `[{"jsonrpc":"2.0","id":6,"method":"odd/method","params":{"text":"y"}},{"jsonrpc":"2.0","id":7,"method":"ping"}]`, nil)
		if status != http.StatusOK || !strings.Contains(body, `"odd y"`) || !strings.Contains(body, `"id":7`) {
			t.Errorf("%d %s", status, body)
		}
	})
}

const hello = `{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// post sends one body as a client, with headers of its own.
func (g *gate) post(t *testing.T, client, session, body string, set map[string]string) (int, string) {
	t.Helper()
	status, text, _ := g.ask(t, http.MethodPost, client, session, body, set)
	return status, text
}

func (g *gate) ask(t *testing.T, method, client, session, body string, set map[string]string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, g.url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if client != "" {
		req.Header.Set("Authorization", "Bearer secret-of-"+client)
	}
	if session != "" {
		req.Header.Set(sessionIDHeader, session)
	}
	for name, value := range set {
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := (&http.Client{Transport: &http.Transport{DialContext: g.net.dial, DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data), res.Header
}

func (g *gate) begin(t *testing.T, client string) string {
	t.Helper()
	status, body, header := g.ask(t, http.MethodPost, client, "", hello, nil)
	if status != http.StatusOK || header.Get(sessionIDHeader) == "" {
		t.Fatalf("initialize: %d %s", status, body)
	}
	id := header.Get(sessionIDHeader)
	if status, body := g.post(t, client, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil); status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", status, body)
	}
	return id
}

// A client that may not connect is refused, with the reason.
func TestTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{MaxBody: 4096, Hosts: []string{"gate.example"}})
		id := g.begin(t, "anna")
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		long := `{"jsonrpc":"2.0","id":1,"method":"ping"` + strings.Repeat(" ", 4096-len(ping)) + `}`
		for name, c := range map[string]struct {
			client, session, body string
			set                   map[string]string
			want                  int
		}{
			"all is well":          {"anna", id, ping, nil, 200},
			"no token":             {"", id, ping, nil, 401},
			"a wrong token":        {"", id, ping, map[string]string{"Authorization": "Bearer x"}, 401},
			"another scheme":       {"", id, ping, map[string]string{"Authorization": "Basic secret-of-anna"}, 401},
			"another's session":    {"bert", id, ping, nil, 404},
			"an unknown session":   {"anna", "x", ping, nil, 404},
			"no session":           {"anna", "", ping, nil, 400},
			"a name bound to us":   {"anna", id, ping, map[string]string{"Host": "evil.example"}, 403},
			"a name of ours":       {"anna", id, ping, map[string]string{"Host": "gate.example:7"}, 200},
			"localhost":            {"anna", id, ping, map[string]string{"Host": "localhost:7"}, 200},
			"a page elsewhere":     {"anna", id, ping, map[string]string{"Origin": "https://evil.example"}, 403},
			"a page without place": {"anna", id, ping, map[string]string{"Origin": "null"}, 403},
			"a page, by its fetch": {"anna", id, ping, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
			"a page here":          {"anna", id, ping, map[string]string{"Origin": g.url}, 200},
			"text":                 {"anna", id, ping, map[string]string{"Content-Type": "text/plain"}, 415},
			"no stream wanted":     {"anna", id, ping, map[string]string{"Accept": "application/json"}, 406},
			"at the limit":         {"anna", id, long, nil, 200},
			"one beyond":           {"anna", id, long + " ", nil, 413},
			"not JSON":             {"anna", id, "{", nil, 400},
			"no messages":          {"anna", id, "[]", nil, 400},
			"many messages":        {"anna", id, "[" + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, MaxBatch-1) + `{"jsonrpc":"2.0","method":"x"}]`, nil, 202},
			"too many messages":    {"anna", id, "[" + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, MaxBatch) + `{"jsonrpc":"2.0","method":"x"}]`, nil, 400},
			"discover":             {"anna", "", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, nil, 400},
			"a long name to join":  {"anna", "", hello, map[string]string{SessionHeader: strings.Repeat("x", MaxJoin+1)}, 400},
			"the longest to join":  {"anna", "", hello, map[string]string{SessionHeader: strings.Repeat("x", MaxJoin)}, 200},
			"no server":            {"unlucky", "", hello, nil, 503},
		} {
			if status, body := g.post(t, c.client, c.session, c.body, c.set); status != c.want {
				t.Errorf("%s: %d %s, want %d", name, status, body, c.want)
			}
		}
		if status, _, _ := g.ask(t, http.MethodPut, "anna", id, "", nil); status != http.StatusMethodNotAllowed {
			t.Errorf("PUT: %d", status)
		}
		if status, _, _ := g.ask(t, http.MethodDelete, "bert", id, "", nil); status != http.StatusNotFound {
			t.Errorf("another's DELETE: %d", status)
		}
		if status, _, _ := g.ask(t, http.MethodDelete, "anna", id, "", nil); status != http.StatusNoContent {
			t.Errorf("DELETE: %d", status)
		}
		if status, _ := g.post(t, "anna", id, ping, nil); status != http.StatusNotFound {
			t.Errorf("after DELETE: %d", status)
		}
	})
}

func TestIdleSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{Idle: time.Second})
		c := g.connect(t, "anna", nil, true)
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := call(ctx, c, "hang", "", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call under way keeps it: %v", err)
		}
		time.Sleep(time.Second - 1)
		settled(t, "not idle for a second", func() bool { return g.Sessions() == 1 })
		time.Sleep(time.Nanosecond)
		settled(t, "idle", func() bool { return g.Sessions() == 0 })
	})
}

// The session of a client that listened and hung up ends earlier than that of a client that never
// listened.
func TestPatience(t *testing.T) {
	s := &session{h: NewHandler(Options{})}
	if got := s.patience(); got != 30*time.Minute {
		t.Error(got)
	}
	s.listens()
	if got := s.patience(); got != hungUp {
		t.Error(got)
	}
	s.h.opts.Idle = time.Minute
	if got := s.patience(); got != time.Minute {
		t.Error(got)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	h := NewHandler(Options{})
	for i := range MaxClientSessions {
		if err := h.enter(&session{peer: Peer{Client: "a", ID: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.enter(&session{peer: Peer{Client: "a", ID: "more"}}); err == nil {
		t.Error("one too many of one client")
	}
	for i := range MaxSessions - MaxClientSessions {
		if err := h.enter(&session{peer: Peer{Client: fmt.Sprint(i), ID: fmt.Sprint("b", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.enter(&session{peer: Peer{Client: "b", ID: "more"}}); err == nil {
		t.Error("one too many")
	}
}

// No body of a client may break open.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{hello, "[" + hello + "]", `{"jsonrpc":"2.0","id":1,"method":"odd","params":[1]}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, "[]", " [ ] ", `{"jsonrpc":"2.0","method":"ping","params":{"dev.floodmark/carried":{"method":"x"}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := open(data)
		if err != nil || bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
			return
		}
		was, err := jsonrpc.DecodeMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		is, err := jsonrpc.DecodeMessage(m.body)
		if err != nil {
			t.Fatalf("%s became %s: %v", data, m.body, err)
		}
		req, ok := was.(*jsonrpc.Request)
		if !ok {
			return
		}
		if back := unwrap(is.(*jsonrpc.Request)); !known(req) && (back.Method != req.Method || back.ID != req.ID) {
			t.Errorf("%s came out as %s", req.Method, back.Method)
		}
	})
}

// A question of the server that comes before the client listens waits for a while, and is answered
// in any case.
func TestQuestionsBeforeTheClientListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{})
		asked := make(chan error, 1)
		g.server = mcp.NewServer(&mcp.Implementation{Name: "asks", Version: "1"}, &mcp.ServerOptions{
			InitializedHandler: func(ctx context.Context, r *mcp.InitializedRequest) {
				go func() { asked <- r.Session.Ping(context.WithoutCancel(ctx), nil) }()
			},
		})
		c := g.connect(t, "anna", nil, false)
		if err := <-asked; err != nil {
			t.Errorf("a client that listens soon: %v", err)
		}
		_ = c.Close()
		g.begin(t, "bert")
		if err := <-asked; err == nil || !strings.Contains(err.Error(), "not listening") {
			t.Errorf("a client that never listens: %v", err)
		}
	})
}
