package httpapi_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hooksFunc is a Hooks made of one function.
type hooksFunc func(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)

func (f hooksFunc) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	return f(ctx, tenant, ev)
}

func allow() hook.Reply {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}
}

func allowAll(context.Context, string, hook.Event) (hook.Reply, error) { return allow(), nil }

func agent() httpapi.Identity { return httpapi.Identity{Name: "agent", May: httpapi.MayEvents} }

// as gives every request the same identity.
func as(who httpapi.Identity, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(httpapi.WithIdentity(r.Context(), who)))
	})
}

// serve serves h on a local socket until the test ends and returns a client for it at http://test.
func serve(t testing.TB, h http.Handler) *http.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	run(t, h, l)
	return caller(t, func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", path) }, nil)
}

// A memory is a listener without sockets, for tests in a bubble of fake time.
type memory struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{calls: make(chan net.Conn), closed: make(chan struct{})} }

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.calls:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (*memory) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "memory"} }

func (m *memory) dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.calls <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serveInMemory is serve without a socket.
func serveInMemory(t testing.TB, h http.Handler) *http.Client {
	t.Helper()
	m := newMemory()
	run(t, h, m)
	return caller(t, m.dial, nil)
}

func run(t testing.TB, h http.Handler, l net.Listener) {
	t.Helper()
	s := httpapi.NewServer(h)
	var wait sync.WaitGroup
	wait.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_ = s.Close()
		wait.Wait()
	})
}

// caller returns a client that speaks HTTP/1 for http and https, and HTTP/2 on request; see grpc.
func caller(t testing.TB, dial func(context.Context) (net.Conn, error), c *tls.Config) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: c != nil}
	tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// grpc returns the same client with HTTP/2 only, which gRPC needs.
func grpc(t testing.TB, c *http.Client) *http.Client {
	t.Helper()
	old, ok := c.Transport.(*http.Transport)
	if !ok {
		t.Fatal("not a transport")
	}
	tr := old.Clone()
	tr.Protocols = new(http.Protocols)
	tr.Protocols.SetHTTP2(true)
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// protocols returns clients of all protocols, each with its own library code.
func protocols(t testing.TB, c *http.Client) map[string]wire.HookServiceClient {
	t.Helper()
	const base = "http://test"
	return map[string]wire.HookServiceClient{
		"connect":      wire.NewHookServiceClient(c, base),
		"connect JSON": wire.NewHookServiceClient(c, base, connect.WithProtoJSON()),
		"gRPC":         wire.NewHookServiceClient(grpc(t, c), base, connect.WithGRPC()),
		"gRPC JSON":    wire.NewHookServiceClient(grpc(t, c), base, connect.WithGRPC(), connect.WithProtoJSON()),
		"gRPC-Web":     wire.NewHookServiceClient(c, base, connect.WithGRPCWeb()),
	}
}

// post sends plain JSON as curl would, and returns the response.
func post(t testing.TB, c *http.Client, url, body string, header ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

const handleURL = "http://test" + wire.HookServiceHandleProcedure

func plainEvent() hook.Event {
	return hook.Event{Point: hook.BeforeToolCall, Agent: "a", Session: "s", Call: hook.Call{Name: "send"}}
}

func soon() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
