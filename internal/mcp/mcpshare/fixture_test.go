package mcpshare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a server whose messages a test writes itself.
type fake struct {
	out  chan jsonrpc.Message // to the hub
	in   chan jsonrpc.Message // from it
	over chan struct{}
	once sync.Once
}

func newFake() *fake {
	return &fake{out: make(chan jsonrpc.Message), in: make(chan jsonrpc.Message, 4096), over: make(chan struct{})}
}

func (f *fake) SessionID() string { return "" }

func (f *fake) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-f.out:
		return m, nil
	case <-f.over:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fake) Write(_ context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "initialize" {
		go f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"f","version":"1"}}}`, r.ID.Raw()))
	}
	f.in <- m
	return nil
}

func (f *fake) Close() error {
	f.once.Do(func() { close(f.over) })
	return nil
}

// say sends a message of the server.
func (f *fake) say(text string) {
	m, err := jsonrpc.DecodeMessage([]byte(text))
	if err != nil {
		panic(err)
	}
	select {
	case f.out <- m:
	case <-f.over:
	}
}

// hears returns the next call or notification of this method that the server gets.
func (f *fake) hears(method string) *jsonrpc.Request {
	for {
		if r, ok := (<-f.in).(*jsonrpc.Request); ok && r.Method == method {
			return r
		}
	}
}

// answer returns the next answer that the server gets.
func (f *fake) answer() *jsonrpc.Response {
	for {
		if r, ok := (<-f.in).(*jsonrpc.Response); ok {
			return r
		}
	}
}

// A person is one client of a hub.
type person struct {
	mcp.Connection
	done chan struct{}

	mu    sync.Mutex // guards what is below
	more  sync.Cond  // signals a message, or the end of the connection
	heard []string
	end   error
}

func join(t testing.TB, h *Hub, caps string) *person {
	t.Helper()
	conn, err := h.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := &person{Connection: conn, done: make(chan struct{})}
	p.more.L = &p.mu
	go func() {
		defer close(p.done)
		for {
			m, err := conn.Read(context.Background())
			if p.note(m, err); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-p.done })
	p.say(t, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":`+caps+`}}`)
	p.hears(t, `"hello"`)
	return p
}

func (p *person) say(t testing.TB, text string) {
	t.Helper()
	m, err := jsonrpc.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// note records a message to a client, or how its connection ended.
func (p *person) note(m jsonrpc.Message, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.more.Broadcast()
	if p.end = err; err == nil {
		data, _ := jsonrpc.EncodeMessage(m)
		p.heard = append(p.heard, string(data))
	}
}

// hears waits for a message with this text.
func (p *person) hears(t testing.TB, part string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.end == nil && p.find(part) == "" {
		p.more.Wait()
	}
	got := p.find(part)
	if got == "" {
		t.Fatalf("nobody said %s; heard: %s\n%v", part, strings.Join(p.heard, "\n"), p.end)
	}
	return got
}

// got waits in a bubble until all goroutines are idle, and returns a message with this text.
func (p *person) got(part string) string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.find(part)
}

// find looks for a text in what was heard. The caller holds mu.
func (p *person) find(part string) string {
	if i := slices.IndexFunc(p.heard, func(s string) bool { return strings.Contains(s, part) }); i >= 0 {
		return p.heard[i]
	}
	return ""
}

// call makes a client call a tool, and returns the request that the server gets.
func (p *person) call(t testing.TB, f *fake, id, text string) *jsonrpc.Request {
	t.Helper()
	p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"x","arguments":{"q":%q},"_meta":{"progressToken":1,"own":"kept"}}}`, id, text))
	return f.hears("tools/call")
}

func newShared(t testing.TB, o Options) (*Hub, func() *fake) {
	t.Helper()
	var mu sync.Mutex
	var lives []*fake
	o.Name = "box"
	if o.Dial == nil {
		o.Dial = func(context.Context) (mcp.Connection, error) {
			mu.Lock()
			defer mu.Unlock()
			lives = append(lives, newFake())
			return lives[len(lives)-1], nil
		}
	}
	h := New(o)
	t.Cleanup(func() { _ = h.Close() })
	return h, func() *fake {
		mu.Lock()
		defer mu.Unlock()
		return lives[len(lives)-1]
	}
}

// result answers a call.
func result(r *jsonrpc.Request, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, r.ID.Raw(), text)
}

// token returns the progress token in a request.
func token(t testing.TB, r *jsonrpc.Request) string {
	t.Helper()
	var said struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
			Own   string          `json:"own"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(r.Params, &said); err != nil || said.Meta.Own != "kept" {
		t.Fatalf("%s: %v", r.Params, err)
	}
	return string(said.Meta.Token)
}
