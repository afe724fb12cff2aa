package mcpmux

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpline"
)

// held returns a Mux with one server to which nothing is sent: messages stay in a queue for one
// message.
func held(t *testing.T) (*Mux, *line) {
	t.Helper()
	m, err := New(Options{Upstreams: []Upstream{{Name: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	l := &line{Line: mcpline.New(nil, 1), s: m.servers[0], pending: map[jsonrpc.ID]waiting{}}
	m.servers[0].line, m.servers[0].settled = l, make(chan struct{})
	m.hello, m.ready = json.RawMessage(`{}`), true
	return m, l
}

// next returns the next message in the server's queue.
func (l *line) next(t *testing.T) *jsonrpc.Request {
	t.Helper()
	var msg jsonrpc.Message
	settled(t, "the server would be told something", func() (ok bool) { msg, ok = l.Take(); return ok })
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		t.Fatalf("the server would be told %v", msg)
	}
	return req
}

// A server that restarts gets notifications/initialized before any call, because some servers
// refuse earlier calls.
func TestNoCallBeforeInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := held(t)
		greeted := make(chan error, 1)
		greet := func() {
			t.Helper()
			go func() { greeted <- l.greet(t.Context(), t.Context()) }()
		}
		greet()
		hello := l.next(t)
		if !l.Send(note("notifications/other", nil)) {
			t.Fatal("the queue has no room for one")
		}
		l.got(&jsonrpc.Response{ID: hello.ID, Result: json.RawMessage(`{"capabilities":{}}`)})
		if err := <-greeted; err == nil {
			t.Error("it was told, though there is no room")
		}
		if m.servers[0].live() != nil {
			t.Fatal("it can be called, and was not told that the client is initialized")
		}
		l.next(t) // the other one
		greet()
		l.got(&jsonrpc.Response{ID: l.next(t).ID, Result: json.RawMessage(`{"capabilities":{}}`)})
		if err := <-greeted; err != nil || m.servers[0].live() == nil {
			t.Fatalf("it cannot be called: %v", err)
		}
		if req := l.next(t); req.Method != "notifications/initialized" {
			t.Errorf("it is told %s", req.Method)
		}
	})
}

// A call that the client cancelled while its server was starting is not sent.
func TestTakenBackBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := held(t)
		c := &call{}
		var err error
		if c.id, err = jsonrpc.MakeID("x"); err != nil {
			t.Fatal(err)
		}
		c.ctx, c.cancel = context.WithCancel(t.Context())
		m.calls[c.id] = c
		if err := m.Write(t.Context(), message(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.askAs("tools/call", nil, waiting{done: func(*jsonrpc.Response) {}}, c); err == nil {
			t.Error("it is made")
		}
		if msg, ok := l.Take(); ok {
			t.Errorf("the server would be told %v", msg)
		}
		if msg, err := m.Read(t.Context()); err != nil || msg.(*jsonrpc.Response).ID != c.id {
			t.Errorf("the client is told %v, %v", msg, err)
		}
	})
}
