package mcpmux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcpjson"
)

// A server is one of those behind the connection, through all its lives. Its
// fields below the first three are guarded by the lock of the Mux.
type server struct {
	m    *Mux
	name string
	dial func(context.Context) (mcp.Connection, error)

	line *line // nil while there is none
	// settled is closed when the start under way has ended either way.
	settled chan struct{}
	// ends counts ends in a row; retry is when the next start may be.
	ends  int
	retry time.Time
	why   error // of the last end
	// caps and hello are what it said at its last start.
	caps  map[string]json.RawMessage
	hello map[string]json.RawMessage
	// addresses, templates and tasks are what it listed.
	addresses, templates, tasks map[string]bool
	listed                      bool // it was asked for its resources
}

// A line is one connection to a server, from its start to its end.
type line struct {
	s     *server
	conn  mcp.Connection
	queue chan jsonrpc.Message
	since time.Time

	// Guarded by the lock of the Mux. alive: initialize was answered.
	alive, over bool
	pending     map[jsonrpc.ID]waiting
}

// waiting is who gets the answer of a server. done is called once, by whoever
// takes it out of pending, without the lock.
type waiting struct {
	done  func(*jsonrpc.Response)
	token string // the progress token it was sent with, as a key
}

// live returns the line if it can take calls.
func (s *server) live() *line {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.line == nil || !s.line.alive {
		return nil
	}
	return s.line
}

// await returns the line, starting the server where it has none and the pause
// since its last end is over.
func (s *server) await(ctx context.Context) (*line, error) {
	settled, err := s.start()
	if err != nil {
		return nil, err
	}
	select {
	case <-settled:
	case <-ctx.Done():
		return nil, s.stopped(fmt.Sprintf("server %q is still starting; try again", s.name))
	}
	if l := s.live(); l != nil {
		return l, nil
	}
	s.m.mu.Lock()
	why := s.why
	s.m.mu.Unlock()
	return nil, s.stopped(fmt.Sprintf("server %q cannot be started: %v", s.name, why))
}

// start begins a start unless there is a line or a start already, and returns
// what is closed when it is decided.
func (s *server) start() (<-chan struct{}, error) {
	m := s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, errGone
	case s.settled != nil:
		return s.settled, nil
	case s.line != nil:
		done := make(chan struct{})
		close(done)
		return done, nil
	}
	if pause := s.retry.Sub(m.opts.Now()); pause > 0 {
		return nil, s.stopped(fmt.Sprintf("server %q stopped (%v); it can be started again in %v", s.name, s.why, pause.Round(time.Millisecond)))
	}
	settled := make(chan struct{})
	s.settled = settled
	m.work.Go(s.run)
	return settled, nil
}

// stopped is the error a client gets where a server is not there.
func (s *server) stopped(text string) *jsonrpc.Error {
	data, _ := json.Marshal(map[string]any{"server": s.name, "retry": true}) // plain values
	return &jsonrpc.Error{Code: CodeStopped, Message: text, Data: data}
}

// run is one life of a server: it returns when the connection has ended and
// everybody who waited for it knows.
func (s *server) run() {
	m := s.m
	limit, cancel := context.WithTimeout(m.ctx, m.opts.StartLimit)
	defer cancel()
	conn, err := s.dial(limit)
	if err != nil {
		s.ended(nil, err)
		return
	}
	ctx, stop := context.WithCancelCause(m.ctx)
	defer stop(nil)
	l := &line{s: s, conn: conn, queue: make(chan jsonrpc.Message, maxQueue), since: m.opts.Now(), pending: map[jsonrpc.ID]waiting{}}
	m.mu.Lock()
	s.line = l
	m.mu.Unlock()
	written, greeted := make(chan struct{}), make(chan struct{})
	go func() { defer close(written); stop(l.write(ctx)) }()
	go func() {
		defer close(greeted)
		if err := l.greet(limit, ctx); err != nil {
			stop(err)
		}
	}()
	stop(l.read(ctx))
	_ = conn.Close() // how it ended is known already
	<-written
	<-greeted
	s.ended(l, context.Cause(ctx))
}

func (l *line) write(ctx context.Context) error {
	for {
		select {
		case msg := <-l.queue:
			if err := l.conn.Write(ctx, msg); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *line) read(ctx context.Context) error {
	for {
		msg, err := l.conn.Read(ctx)
		if err != nil {
			return err
		}
		l.got(msg)
	}
}

// ended writes off a line, or a start that came to none.
func (s *server) ended(l *line, why error) {
	m := s.m
	m.mu.Lock()
	var lost map[jsonrpc.ID]waiting
	alive := false
	if l != nil {
		lost, alive = l.pending, l.alive
		l.pending, l.alive, l.over = nil, false, true
	}
	if s.settled != nil {
		close(s.settled)
		s.settled = nil
	}
	s.listed = false
	s.line, s.addresses, s.templates, s.tasks, s.why = nil, nil, nil, nil, why
	s.wait(alive && m.opts.Now().Sub(l.since) >= m.opts.Backoff<<maxDoublings)
	var open []jsonrpc.ID
	for id, q := range m.asked {
		if q.line == l {
			open = append(open, id)
			delete(m.asked, id)
			delete(m.tokens, q.token)
		}
	}
	ready, closed := m.ready, m.closed
	m.mu.Unlock()
	for _, w := range lost {
		w.done(&jsonrpc.Response{Error: s.stopped(fmt.Sprintf("server %q stopped before it answered (%v); it is not known whether the call was carried out; the next call starts it again", s.name, why))})
	}
	if closed {
		return
	}
	m.opts.Report(s.name, why)
	for _, id := range open {
		m.tell(note("notifications/cancelled", map[string]any{"requestId": id.Raw(), "reason": "server " + s.name + " stopped"}))
	}
	if alive && ready {
		m.changed(s)
	}
}

const maxDoublings = 6

// wait sets when the server may be started again: at once after its first end,
// then with pauses that double. One that ran long begins anew. Its caller holds
// the lock.
func (s *server) wait(ranLong bool) {
	if ranLong {
		s.ends = 0
	}
	s.ends++
	s.retry = s.m.opts.Now()
	if s.ends > 1 {
		s.retry = s.retry.Add(s.m.opts.Backoff << min(s.ends-2, maxDoublings))
	}
}

// greet says initialize as the client did, and makes the line live. limit ends
// the wait, ctx is the line's own end.
func (l *line) greet(limit, ctx context.Context) error {
	m := l.s.m
	m.mu.Lock()
	hello := m.hello
	m.mu.Unlock()
	got := make(chan *jsonrpc.Response, 1)
	if err := l.ask("initialize", hello, "", func(r *jsonrpc.Response) { got <- r }); err != nil {
		return err
	}
	var answer *jsonrpc.Response
	select {
	case answer = <-got:
	case <-ctx.Done():
		return nil // whoever ended it said why
	case <-limit.Done():
		return errors.New("it did not answer initialize in time")
	}
	if answer.Error != nil {
		return fmt.Errorf("initialize: %w", answer.Error)
	}
	said, err := mcpjson.Fields(answer.Result)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	caps, err := mcpjson.Fields(said["capabilities"])
	if err != nil {
		return fmt.Errorf("initialize: capabilities: %w", err)
	}
	m.mu.Lock()
	l.alive = true
	l.s.caps, l.s.hello = caps, said
	close(l.s.settled)
	l.s.settled = nil
	late, level := m.ready, m.level
	m.mu.Unlock()
	if !late {
		return nil // the client's own notification goes to all
	}
	if err := l.send(note("notifications/initialized", nil)); err != nil {
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

// changed tells the client that lists are others now, because a server came or
// went.
func (m *Mux) changed(s *server) {
	m.mu.Lock()
	caps := s.caps
	m.mu.Unlock()
	for _, what := range []string{"tools", "prompts", "resources"} {
		if caps[what] != nil {
			m.tell(note("notifications/"+what+"/list_changed", nil))
		}
	}
}

// ask sends a call to the server. done gets the answer, or the error that says
// the server ended, unless ask itself returns an error.
func (l *line) ask(method string, params json.RawMessage, token string, done func(*jsonrpc.Response)) error {
	_, err := l.askAs(method, params, waiting{done: done, token: token}, nil)
	return err
}

// askAs is ask, which also notes in the client's call where it went.
func (l *line) askAs(method string, params json.RawMessage, w waiting, c *call) (jsonrpc.ID, error) {
	m := l.s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.over {
		return jsonrpc.ID{}, l.s.stopped(fmt.Sprintf("server %q stopped; the next call starts it again", l.s.name))
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

// send queues a message. It does not wait: a server that reads nothing must not
// hold up the others.
func (l *line) send(msg jsonrpc.Message) error {
	select {
	case l.queue <- msg:
		return nil
	default:
		return l.s.stopped(fmt.Sprintf("server %q does not read what it is sent", l.s.name))
	}
}

// take returns who waits for this answer, once.
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
	token    string          // the key of its progress token at the client
	original json.RawMessage // its own progress token
}

// got deals with one message of a server.
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

// asks passes a server's call to the client under an id of ours.
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
	_ = l.send(answer) // one that does not read gets no answers
}
