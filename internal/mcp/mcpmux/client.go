package mcpmux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// A call is one open call of the client.
type call struct {
	id     jsonrpc.ID
	ctx    context.Context // done when the client cancelled it
	cancel context.CancelFunc
	// line is the connection that the call was sent on, and sent is its id there. The lock of the
	// Mux guards both.
	line *line
	sent jsonrpc.ID
}

// CodeCancelled is the error code of the answer to a call that the client itself cancelled. A
// transport can drop such an answer.
const CodeCancelled = -32800

// called handles a call of the client.
func (m *Mux) called(req *jsonrpc.Request) {
	c := &call{id: req.ID}
	c.ctx, c.cancel = context.WithCancel(m.ctx)
	m.mu.Lock()
	_, twice := m.calls[req.ID]
	full := len(m.calls) >= MaxOpen
	begun := m.hello != nil
	if !twice && !full {
		m.calls[req.ID] = c
	}
	m.mu.Unlock()
	switch {
	case twice:
		c.cancel()
		m.tell(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v is used by a call that is still open", req.ID.Raw())))
	case full:
		c.cancel()
		m.tell(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidRequest, fmt.Sprintf("%d calls are open; wait for one", MaxOpen)))
	case req.Method == "ping":
		m.reply(c, &jsonrpc.Response{Result: json.RawMessage("{}")})
	case req.Method == "server/discover":
		// server/discover belongs to the protocol version without sessions. Several servers, each
		// with its own state, need a session, and every client also knows the older versions.
		m.reply(c, mcpjson.Refuse(req.ID, jsonrpc.CodeMethodNotFound, "this server has sessions: say initialize"))
	case req.Method == "initialize":
		m.do(func() { m.initialize(c, req.Params) })
	case !begun:
		m.reply(c, mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidRequest, "say initialize first"))
	case listed(req.Method) != (list{}):
		m.do(func() { m.list(c, req.Method, req.Params) })
	case req.Method == "logging/setLevel":
		m.do(func() { m.setLevel(c, req.Params) })
	default:
		m.route(c, req)
	}
}

// reply answers a call, unless it was cancelled.
func (m *Mux) reply(c *call, answer *jsonrpc.Response) {
	m.mu.Lock()
	open := m.calls[c.id] == c
	if open {
		delete(m.calls, c.id)
	}
	m.mu.Unlock()
	c.cancel()
	if open {
		m.tell(&jsonrpc.Response{ID: c.id, Result: answer.Result, Error: answer.Error})
	}
}

func (m *Mux) fail(c *call, err error) {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	m.reply(c, &jsonrpc.Response{Error: wire})
}

// route sends a call to the one server it is for.
func (m *Mux) route(c *call, req *jsonrpc.Request) {
	s, params, err := m.target(req, false)
	switch {
	case err != nil && err.Code == codeUnlisted:
		m.do(func() {
			m.look(c.ctx)
			if s, params, err = m.target(req, true); err != nil {
				m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeInvalidParams, err.Message))
				return
			}
			m.pass(c, s, req.Method, params)
		})
	case err != nil:
		m.reply(c, &jsonrpc.Response{Error: err})
	default:
		m.pass(c, s, req.Method, params)
	}
}

// look lists the resources and templates of all servers, for a client that asks for an address
// before it has listed them.
func (m *Mux) look(ctx context.Context) {
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		what := listed(method)
		lines := m.listing(ctx, what, nil)
		for i, answer := range m.gather(ctx, lines, method, func(*line) json.RawMessage { return nil }) {
			_, _ = lines[i].s.page(what, answer, false) // a server that fails claims no address
		}
	}
}

// pass sends a call to a server, starting the server if it has ended.
func (m *Mux) pass(c *call, s *server, method string, params json.RawMessage) {
	w := waiting{token: progressToken(params)}
	w.done = func(answer *jsonrpc.Response) {
		s.remember(method, answer.Result)
		m.reply(c, answer)
	}
	if l := s.live(); l != nil {
		if _, err := l.askAs(method, params, w, c); err != nil {
			m.fail(c, err)
		}
		return
	}
	m.do(func() {
		l, err := s.await(c.ctx)
		if err == nil {
			err = c.ctx.Err()
		}
		if err == nil {
			_, err = l.askAs(method, params, w, c)
		}
		if err != nil {
			m.fail(c, err)
		}
	})
}

// noted handles a notification of the client.
func (m *Mux) noted(req *jsonrpc.Request) {
	switch req.Method {
	case "notifications/cancelled":
		m.cancelled(req.Params)
	case "notifications/progress":
		m.progress(req.Params)
	case "notifications/initialized":
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.ready && m.hello != nil {
			m.ready = true // a server that starts later gets this notification from live
			m.all(req)
		}
	default:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.all(req)
	}
}

// all sends a notification to every live server. Its caller holds the lock.
func (m *Mux) all(req *jsonrpc.Request) {
	for _, s := range m.servers {
		if l := s.line; l != nil && l.alive {
			_ = l.send(&jsonrpc.Request{Method: req.Method, Params: req.Params}) // lost if the server does not read
		}
	}
}

// cancelled ends a call of the client, and cancels it at the server it was sent to.
func (m *Mux) cancelled(params json.RawMessage) {
	said, err := mcpjson.Fields(params)
	if err != nil {
		return
	}
	id, ok := mcpjson.ID(said["requestId"])
	if !ok {
		return
	}
	m.mu.Lock()
	c := m.calls[id]
	var l *line
	var sent jsonrpc.ID
	if c != nil {
		l, sent = c.line, c.sent
		delete(m.calls, id) // from here on, no other goroutine sends the call
	}
	m.mu.Unlock()
	if c == nil {
		return
	}
	c.cancel()
	if l != nil {
		if _, open := l.take(sent); open {
			said["requestId"] = mcpjson.Encode(sent.Raw())
			_ = l.send(&jsonrpc.Request{Method: "notifications/cancelled", Params: mcpjson.Encode(said)}) // lost if the server does not read
		}
	}
	m.tell(mcpjson.Refuse(id, CodeCancelled, "cancelled by the client"))
}

// progress forwards the client's progress on a server's call to that server.
func (m *Mux) progress(params json.RawMessage) {
	said, err := mcpjson.Fields(params)
	if err != nil {
		return
	}
	m.mu.Lock()
	q, ok := m.tokens[mcpjson.TokenKey(said["progressToken"])]
	m.mu.Unlock()
	if !ok {
		return
	}
	said["progressToken"] = q.original
	_ = q.line.send(&jsonrpc.Request{Method: "notifications/progress", Params: mcpjson.Encode(said)}) // lost if the server does not read
}

// answered forwards the client's answer to the server that asked.
func (m *Mux) answered(answer *jsonrpc.Response) {
	m.mu.Lock()
	q, ok := m.asked[answer.ID]
	delete(m.asked, answer.ID)
	if q.token != "" {
		delete(m.tokens, q.token)
	}
	m.mu.Unlock()
	if ok {
		_ = q.line.send(&jsonrpc.Response{ID: q.id, Result: answer.Result, Error: answer.Error}) // lost if the server does not read
	}
}

// setLevel sets the client's logging level at every server that logs.
func (m *Mux) setLevel(c *call, params json.RawMessage) {
	m.mu.Lock()
	m.level = params
	m.mu.Unlock()
	var lines []*line
	for _, s := range m.servers {
		if l := s.live(); l != nil && s.can("logging") {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeMethodNotFound, "no server here logs"))
		return
	}
	var first error
	for _, answer := range m.gather(c.ctx, lines, "logging/setLevel", func(*line) json.RawMessage { return params }) {
		if answer.Error == nil {
			m.reply(c, answer)
			return
		}
		first = errors.Join(first, answer.Error)
	}
	m.fail(c, first)
}

// gather asks several servers at once and waits for all, at most Options.ListWait. For a server
// that does not answer, it returns an error.
func (m *Mux) gather(ctx context.Context, lines []*line, method string, params func(*line) json.RawMessage) []*jsonrpc.Response {
	ctx, cancel := context.WithTimeout(ctx, m.opts.ListWait)
	defer cancel()
	answers := make([]chan *jsonrpc.Response, len(lines))
	sent := make([]jsonrpc.ID, len(lines))
	for i, l := range lines {
		answer := make(chan *jsonrpc.Response, 1)
		answers[i] = answer
		p := params(l)
		id, err := l.askAs(method, p, waiting{done: func(r *jsonrpc.Response) { answer <- r }, token: progressToken(p)}, nil)
		if err != nil {
			answer <- &jsonrpc.Response{Error: err}
		}
		sent[i] = id
	}
	all := make([]*jsonrpc.Response, len(lines))
	for i, l := range lines {
		select {
		case all[i] = <-answers[i]:
		case <-ctx.Done():
			all[i] = &jsonrpc.Response{Error: l.s.stopped(fmt.Sprintf("server %q did not answer %s in time", l.s.name, method))}
			if _, open := l.take(sent[i]); open {
				_ = l.send(note("notifications/cancelled", map[string]any{"requestId": sent[i].Raw()})) // lost if the server does not read
			}
		}
	}
	return all
}

// notes forwards a server's notification to the client.
func (l *line) notes(req *jsonrpc.Request) {
	m := l.s.m
	m.mu.Lock()
	ready := m.ready
	m.mu.Unlock()
	if !ready {
		return // the client gets nothing before it is initialized
	}
	params := req.Params
	switch req.Method {
	case "notifications/progress":
		if !l.reports(params) {
			return
		}
	case "notifications/cancelled":
		var ok bool
		if params, ok = l.withdrawn(params); !ok {
			return
		}
	case "notifications/message":
		params = l.s.logger(params)
	}
	m.tell(&jsonrpc.Request{Method: req.Method, Params: params})
}

// reports returns whether a progress notification is about an open call to this server.
func (l *line) reports(params json.RawMessage) bool {
	said, err := mcpjson.Fields(params)
	key := mcpjson.TokenKey(said["progressToken"])
	if err != nil || key == "" {
		return false
	}
	l.s.m.mu.Lock()
	defer l.s.m.mu.Unlock()
	for _, w := range l.pending {
		if w.token == key {
			return true
		}
	}
	return false
}

// withdrawn translates a server's cancellation of its call to the id under which the client got
// that call. It reports false if the call is not open.
func (l *line) withdrawn(params json.RawMessage) (json.RawMessage, bool) {
	said, err := mcpjson.Fields(params)
	if err != nil {
		return nil, false
	}
	id, ok := mcpjson.ID(said["requestId"])
	if !ok {
		return nil, false
	}
	m := l.s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for ours, q := range m.asked {
		if q.line == l && q.id == id {
			delete(m.asked, ours)
			delete(m.tokens, q.token)
			said["requestId"] = mcpjson.Encode(ours.Raw())
			return mcpjson.Encode(said), true
		}
	}
	return nil, false
}
