package mcpshare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// A port is one client's connection to the server.
type port struct {
	l    *line
	in   chan jsonrpc.Message // to the client
	over chan struct{}        // closed at the end
	once sync.Once

	// Guarded by the lock of the Hub.
	why error // why the connection ended
	// calls are the client's open calls: the client's id to ours.
	calls map[jsonrpc.ID]jsonrpc.ID
	caps  map[string]json.RawMessage
	level string // the logging level that the client asked for
	subs  int
	tasks int
}

var _ mcp.Connection = (*port)(nil)

// join adds a client. Its caller holds the lock.
func (l *line) join() *port {
	p := &port{l: l, in: make(chan jsonrpc.Message, maxQueue), over: make(chan struct{}), calls: map[jsonrpc.ID]jsonrpc.ID{}}
	l.ports[p] = true
	return p
}

// shut ends the connection to a client. Its caller holds the lock.
func (p *port) shut(why error) {
	if p.why == nil {
		p.why = why
	}
	p.once.Do(func() { close(p.over) })
}

// SessionID implements [mcp.Connection]: there is none.
func (p *port) SessionID() string { return "" }

// Read implements [mcp.Connection]: the next message for this client.
func (p *port) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-p.in:
		return msg, nil
	default:
	}
	select {
	case msg := <-p.in:
		return msg, nil
	case <-p.over:
		p.l.h.mu.Lock()
		defer p.l.h.mu.Unlock()
		return nil, p.why
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection]: one message of this client. It does not wait for the server.
func (p *port) Write(_ context.Context, msg jsonrpc.Message) error {
	h := p.l.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.why != nil {
		return mcp.ErrConnectionClosed
	}
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		p.answers(msg)
	case *jsonrpc.Request:
		if msg.IsCall() {
			p.called(msg)
		} else {
			p.noted(msg)
		}
	}
	return nil
}

// Close implements [mcp.Connection]: it disconnects the client, and the server goes on.
func (p *port) Close() error {
	h := p.l.h
	h.mu.Lock()
	defer h.mu.Unlock()
	p.shut(mcp.ErrConnectionClosed)
	if p.l.ports[p] {
		p.l.leave(p)
	}
	return nil
}

// leave removes a client: it cancels the client's calls, subscriptions, tasks and questions. Its
// caller holds the lock.
func (l *line) leave(p *port) {
	delete(l.ports, p)
	if len(p.calls) > 0 || p.tasks > 0 {
		l.haunts(p)
	}
	for id := range p.calls {
		p.takeBack(id)
	}
	for place, who := range l.heard {
		if who[p] {
			p.unhear(place)
		}
	}
	for id, t := range l.tasks {
		if t.port == p {
			delete(l.tasks, id)
		}
	}
	for id, who := range l.forms {
		if who == p {
			delete(l.forms, id)
		}
	}
	for id, q := range l.asked {
		if q.port == p {
			delete(l.asked, id)
			_ = l.send(mcpjson.Refuse(q.id, jsonrpc.CodeInvalidRequest, "the client has left")) // lost if the server does not read
		}
	}
}

// haunts notes that the server may still be working for a client that no longer waits. Its caller
// holds the lock.
func (l *line) haunts(p *port) {
	now := l.h.opts.Now()
	for q, until := range l.ghosts {
		if now.After(until) {
			delete(l.ghosts, q)
		}
	}
	l.ghosts[p] = now.Add(l.h.opts.Ghost)
}

// tell gives the client a message. A client that does not read is disconnected, so that it does not
// delay the others. Its caller holds the lock.
func (p *port) tell(msg jsonrpc.Message) {
	select {
	case p.in <- msg:
	default:
		p.shut(fmt.Errorf("%w: %d messages wait for it", errDeaf, maxQueue))
	}
}

var errDeaf = errors.New("the client does not read what it is told")
