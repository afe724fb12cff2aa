package mcpshare

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
	"github.com/floodmark/floodmark/internal/mcp/mcpline"
)

// A line is one run of the server. Its maps are guarded by the lock of the Hub.
type line struct {
	*mcpline.Line

	h     *Hub
	since time.Time

	alive bool                       // initialize was answered
	hello map[string]json.RawMessage // its answer to initialize
	last  int64
	ports map[*port]bool
	// sent are our open calls to the server, by our ids. tokens are the same calls by their
	// progress tokens, if they have one. asked are the server's open calls to clients, by our ids.
	sent   map[jsonrpc.ID]*sent
	tokens map[string]*sent
	asked  map[jsonrpc.ID]*question
	// heard are the subscribers of each address. tasks are the clients' tasks by their ids. forms
	// are the clients of elicitations that have an id because they are completed elsewhere, for
	// example in a browser.
	heard map[string]map[*port]bool
	tasks map[string]*task
	forms map[string]*port
	// ghosts are clients that cancelled a call or left one open, and until when the server may
	// still be working on it.
	ghosts map[*port]time.Time
	level  string // the logging level last requested from the server
}

// sent is a call to the server that was not answered yet.
type sent struct {
	port   *port // nil: no client waits any more
	id     jsonrpc.ID
	method string
	place  string          // the address of a subscription
	key    string          // the key of our progress token
	token  json.RawMessage // the client's own progress token
	// answered, if set, gets the answer instead of a client.
	answered func(*jsonrpc.Response)
}

// A question is a call of the server to a client.
type question struct {
	port     *port
	id       jsonrpc.ID      // the server's id
	token    string          // the key of the progress token that the client got
	original json.RawMessage // the server's own progress token
}

// A task is work of the server that continues after its answer.
type task struct {
	port *port
	open bool
}

// run dials the server once and serves the connection. It returns when the server has ended and all
// waiting calls are answered.
func (h *Hub) run() {
	limit, cancel := context.WithTimeout(h.ctx, h.opts.StartLimit)
	defer cancel()
	conn, err := h.opts.Dial(limit)
	if err != nil {
		h.opts.Report("the server that clients share was not started: " + err.Error())
		h.ended(nil, err)
		return
	}
	l := &line{
		Line: mcpline.New(conn, maxServerQueue), h: h, since: h.opts.Now(), ports: map[*port]bool{},
		sent: map[jsonrpc.ID]*sent{}, tokens: map[string]*sent{}, asked: map[jsonrpc.ID]*question{},
		heard: map[string]map[*port]bool{}, tasks: map[string]*task{}, forms: map[string]*port{}, ghosts: map[*port]time.Time{},
	}
	h.mu.Lock()
	h.line = l
	h.mu.Unlock()
	why := l.Run(h.ctx, func(ctx context.Context) error { return l.greet(limit, ctx) }, l.got)
	h.ended(l, why)
	if h.ctx.Err() == nil {
		h.opts.Report("the server that clients share ended: " + why.Error())
	}
}

// The protocol version we ask for, and the capabilities we offer the server. A request of the
// server is only forwarded to a client that has the capability itself. Folders (roots) differ
// between clients, so they are not offered.
const (
	ownVersion      = "2025-11-25"
	ownCapabilities = `{"sampling":{},"elicitation":{}}`
)

// greet sends initialize for all clients, and makes the line live. limit bounds the wait; ctx ends
// with the line.
func (l *line) greet(limit, ctx context.Context) error {
	h := l.h
	got := make(chan *jsonrpc.Response, 1)
	params := mcpjson.Encode(map[string]any{
		"protocolVersion": ownVersion, "capabilities": json.RawMessage(ownCapabilities),
		"clientInfo": map[string]string{"name": "floodmark", "version": h.opts.Version},
	})
	h.mu.Lock()
	_, err := l.ask("initialize", params, &sent{answered: func(r *jsonrpc.Response) { got <- r }})
	h.mu.Unlock()
	if err != nil {
		return err
	}
	said, err := mcpline.Hello(limit, ctx, got)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := l.send(&jsonrpc.Request{Method: "notifications/initialized"}); err != nil {
		return err
	}
	l.alive, l.hello = true, said
	close(h.settled)
	h.settled = nil
	return nil
}

// ask sends a call to the server under an id of ours. Its caller holds the lock.
func (l *line) ask(method string, params json.RawMessage, s *sent) (jsonrpc.ID, error) {
	id := l.number()
	s.method = method
	if err := l.send(&jsonrpc.Request{ID: id, Method: method, Params: params}); err != nil {
		return id, err
	}
	l.sent[id] = s
	if s.key != "" {
		l.tokens[s.key] = s
	}
	return id, nil
}

// done removes a call from the open calls. Its caller holds the lock.
func (l *line) done(id jsonrpc.ID) {
	if s := l.sent[id]; s != nil && s.key != "" {
		delete(l.tokens, s.key)
	}
	delete(l.sent, id)
}

// send queues a message. It does not wait: a server that does not read must not delay its clients.
func (l *line) send(msg jsonrpc.Message) error {
	if l.Send(msg) {
		return nil
	}
	return fmt.Errorf("server %q does not read what it is sent; try again later", l.h.opts.Name)
}

// number returns an unused id. Its caller holds the lock.
func (l *line) number() jsonrpc.ID {
	l.last++
	id, err := jsonrpc.MakeID(float64(l.last))
	if err != nil {
		panic(err) // a number is always a valid id
	}
	return id
}
