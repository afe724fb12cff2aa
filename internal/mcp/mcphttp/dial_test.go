package mcphttp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A given is a transport over an existing connection.
type given struct{ mcp.Connection }

func (g given) Connect(context.Context) (mcp.Connection, error) { return g.Connection, nil }

// farServer serves a real server over HTTP and keeps the headers it saw.
type farServer struct {
	url  string
	net  *memory
	mu   sync.Mutex
	seen []http.Header
	gets int
}

func newUpstream(t *testing.T, s *mcp.Server, opts *mcp.StreamableHTTPOptions) *farServer {
	t.Helper()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, opts)
	u := &farServer{}
	u.url, u.net = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.seen = append(u.seen, r.Header.Clone())
		if r.Method == http.MethodGet {
			u.gets++
		}
		u.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	return u
}

func (u *farServer) reach(t *testing.T, s Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s.URL, s.transport = u.url, u.net.transport()
	conn, err := Dial(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, opts).Connect(t.Context(), given{conn}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = conn.Close() })
	return c
}

func TestAServerOverHTTP(t *testing.T) {
	for name, opts := range map[string]*mcp.StreamableHTTPOptions{"events": {}, "JSON": {JSONResponse: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := example()
				u := newUpstream(t, server, opts)
				changes := make(chan int, 10)
				c := u.reach(t, Server{Headers: func() (http.Header, error) {
					return http.Header{"X-Key": {"k"}}, nil
				}}, &mcp.ClientOptions{
					ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changes <- 1 },
					ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						return &mcp.ElicitResult{Action: "decline"}, nil
					},
				})
				if got, err := call(t.Context(), c, "echo", "x", nil); got != "x" {
					t.Errorf("%q, %v", got, err)
				}
				// If answers are not streams, the server sends its requests on the stream for
				// notifications.
				settled(t, "the stream for news", func() bool { u.mu.Lock(); defer u.mu.Unlock(); return u.gets == 1 })
				if got, err := call(t.Context(), c, "ask", "x", nil); got != "decline" {
					t.Errorf("%q, %v", got, err)
				}
				// A call that hangs delays no other, and can be cancelled.
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { _, err := call(ctx, c, "hang", "", nil); done <- err }()
				if got, err := call(t.Context(), c, "echo", "y", nil); got != "y" {
					t.Errorf("%q, %v", got, err)
				}
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				server.RemoveTools("hang")
				<-changes
				u.mu.Lock()
				defer u.mu.Unlock()
				for i, h := range u.seen {
					if h.Get("X-Key") != "k" || i > 0 && h.Get(versionHeader) != "2025-06-18" {
						t.Errorf("request %d: %v", i, h)
					}
				}
			})
		})
	}
}

func TestAnswersAreBounded(t *testing.T) {
	for name, opts := range map[string]*mcp.StreamableHTTPOptions{"events": {}, "JSON": {JSONResponse: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUpstream(t, example(), opts)
				c := u.reach(t, Server{MaxAnswer: 8192}, nil)
				if got, err := call(t.Context(), c, "echo", strings.Repeat("x", 8000), nil); len(got) != 8000 {
					t.Errorf("below: %d, %v", len(got), err)
				}
				if got, err := call(t.Context(), c, "echo", strings.Repeat("x", 8192), nil); err == nil {
					t.Errorf("beyond: %d", len(got))
				}
			})
		})
	}
}

func TestWhereServersAre(t *testing.T) {
	if _, err := Dial(t.Context(), Server{URL: "ftp://x"}); err == nil {
		t.Error("an address that is none was taken")
	}
	conn, err := Dial(t.Context(), Server{URL: "http://192.0.2.1/secret-path"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(), given{conn}, nil)
	if err == nil || !strings.Contains(err.Error(), "not on this machine") || strings.Contains(err.Error(), "secret") {
		t.Errorf("http goes no further than this machine, and no error says where: %v", err)
	}
	if _, err := Dial(t.Context(), Server{URL: "http://127.0.0.1:1", Headers: func() (http.Header, error) { return nil, errors.New("no key") }}); err == nil {
		t.Error("without its credentials it is not reached")
	}
}

func TestEvents(t *testing.T) {
	var got []string
	read := func(text string, most int64) error {
		got = nil
		return events(strings.NewReader(text), most, func(id string, data []byte) error {
			got = append(got, id+"|"+string(data))
			return nil
		})
	}
	if err := read(": ok\n\nid: 1\ndata: a\ndata:b\n\nevent: x\r\ndata: c\r\n\r\ndata: unfinished", 100); err != nil || strings.Join(got, ",") != "|,1|a\nb,|c" {
		t.Errorf("%q, %v", got, err)
	}
	long := strings.Repeat("x", 10000)
	if err := read("data: "+long+"\n\n", 10008); err != nil || got[0] != "|"+long {
		t.Errorf("at the limit: %v", err)
	}
	if err := read("data: "+long+"x\n\n", 10008); err == nil {
		t.Error("one beyond")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\ndata: a\n\n"))
	f.Add([]byte("data: " + strings.Repeat("x", 5000) + "\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = events(bytes.NewReader(data), 1<<16, func(id string, d []byte) error {
			if len(id)+len(d) > len(data) {
				t.Error("more came out than went in")
			}
			return nil
		})
	})
}
