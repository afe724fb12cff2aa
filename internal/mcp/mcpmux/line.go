package mcpmux

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
	"github.com/floodmark/floodmark/internal/mcp/mcpline"
)

// A line is one connection to a server, from its start to its end.
type line struct {
	*mcpline.Line

	s     *server
	since time.Time

	// The fields below are guarded by the lock of the Mux. alive is set when initialize was
	// answered.
	alive, over bool
	pending     map[jsonrpc.ID]waiting
}

// waiting is a call that awaits a server's answer. The goroutine that removes it from line.pending
// calls done once, without holding the lock.
type waiting struct {
	done  func(*jsonrpc.Response)
	token string // the progress token it was sent with, as a key
}

// greet sends the client's initialize, and makes the line live. limit bounds the wait; ctx ends
// with the line.
func (l *line) greet(limit, ctx context.Context) error {
	m := l.s.m
	m.mu.Lock()
	hello := m.hello
	m.mu.Unlock()
	got := make(chan *jsonrpc.Response, 1)
	if err := l.ask("initialize", hello, "", func(r *jsonrpc.Response) { got <- r }); err != nil {
		return err
	}
	said, err := mcpline.Hello(limit, ctx, got)
	if err != nil {
		return err
	}
	caps, err := mcpjson.Fields(said["capabilities"])
	if err != nil {
		return fmt.Errorf("initialize: capabilities: %w", err)
	}
	late, level, err := l.live(caps, said)
	if err != nil || !late {
		return err
	}
	if level != nil && caps["logging"] != nil {
		if err := l.ask("logging/setLevel", level, "", func(*jsonrpc.Response) {}); err != nil {
			return err
		}
	}
	m.changed(l.s)
	return nil
}

// live marks the line as ready for calls. If the client is initialized already (late), live first
// sends the server that notification, because the server may refuse calls that come before it.
// Otherwise the client's own notification will go to all servers. It also returns the logging
// level.
func (l *line) live(caps, said map[string]json.RawMessage) (late bool, level json.RawMessage, err error) {
	m := l.s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready {
		if err := l.send(note("notifications/initialized", nil)); err != nil {
			return true, nil, err
		}
	}
	l.alive = true
	l.s.caps, l.s.hello = caps, said
	close(l.s.settled)
	l.s.settled = nil
	return m.ready, m.level, nil
}

// ask sends a call to the server. done gets the answer, or the error that says
// the server ended, unless ask itself returns an error.
func (l *line) ask(method string, params json.RawMessage, token string, done func(*jsonrpc.Response)) error {
	_, err := l.askAs(method, params, waiting{done: done, token: token}, nil)
	return err
}

// askAs is like ask, and records in the client's call c the line and the id it was sent under. It
// does not send a call that the client has cancelled meanwhile.
func (l *line) askAs(method string, params json.RawMessage, w waiting, c *call) (jsonrpc.ID, error) {
	m := l.s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.over {
		return jsonrpc.ID{}, l.s.stopped(fmt.Sprintf("server %q stopped; the next call starts it again", l.s.name))
	}
	if c != nil && m.calls[c.id] != c {
		return jsonrpc.ID{}, context.Canceled
	}
	id := m.number()
	if err := l.send(&jsonrpc.Request{ID: id, Method: method, Params: params}); err != nil {
		return id, err
	}
	l.pending[id] = w
	if c != nil {
		c.line, c.sent = l, id
	}
	return id, nil
}

// send queues a message. It does not wait: a server that does not read must not delay the others.
func (l *line) send(msg jsonrpc.Message) error {
	if l.Send(msg) {
		return nil
	}
	return l.s.stopped(fmt.Sprintf("server %q does not read what it is sent", l.s.name))
}

// take removes and returns the call that awaits the answer with this id. It reports false if there
// is none.
func (l *line) take(id jsonrpc.ID) (waiting, bool) {
	l.s.m.mu.Lock()
	defer l.s.m.mu.Unlock()
	w, ok := l.pending[id]
	delete(l.pending, id)
	return w, ok
}

// question is a call of a server to the client.
type question struct {
	line     *line
	id       jsonrpc.ID
	token    string          // the key of the progress token that the client got
	original json.RawMessage // the server's own progress token
}

// got handles one message of a server.
func (l *line) got(msg jsonrpc.Message) {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		if w, ok := l.take(msg.ID); ok {
			w.done(msg)
		}
	case *jsonrpc.Request:
		if msg.IsCall() {
			l.asks(msg)
		} else {
			l.notes(msg)
		}
	}
}

// asks forwards a server's call to the client under an id of ours.
func (l *line) asks(req *jsonrpc.Request) {
	m := l.s.m
	params, key, original := l.s.ownToken(req.Params)
	m.mu.Lock()
	open := m.ready && len(m.asked) < MaxOpen
	var id jsonrpc.ID
	if open {
		id = m.number()
		q := question{line: l, id: req.ID, token: key, original: original}
		m.asked[id] = q
		if key != "" {
			m.tokens[key] = q
		}
	}
	m.mu.Unlock()
	if open {
		m.tell(&jsonrpc.Request{ID: id, Method: req.Method, Params: params})
		return
	}
	answer := &jsonrpc.Response{ID: req.ID, Result: json.RawMessage("{}")}
	if req.Method != "ping" {
		answer.Result, answer.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the client is not ready, or has too many calls open"}
	}
	_ = l.send(answer) // lost if the server does not read
}
