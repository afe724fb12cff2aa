package mcpmux

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/mcpline"
)

// A server is one server behind the connection, through all its restarts. The lock of the Mux
// guards all fields but the first three.
type server struct {
	m    *Mux
	name string
	dial func(context.Context) (mcp.Connection, error)

	line *line // nil while there is none
	// settled is closed when the start under way has succeeded or failed.
	settled chan struct{}
	// ends counts ends in a row; retry is the earliest time of the next start.
	ends  int
	retry time.Time
	why   error // why the last line ended, or the last start failed
	// caps and hello are from its last start.
	caps  map[string]json.RawMessage
	hello map[string]json.RawMessage
	// addresses, templates and tasks are what the server listed or named in a result.
	addresses, templates, tasks map[string]bool
	listed                      bool // its resources were requested
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

// await returns the line, starting the server if it has none and the pause since its last end is
// over.
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

// start begins a start unless there is a line or a start already, and returns a channel that is
// closed when the start has succeeded or failed.
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

// stopped returns the error that a client gets if a server is not running.
func (s *server) stopped(text string) *jsonrpc.Error {
	data, _ := json.Marshal(map[string]any{"server": s.name, "retry": true}) // plain values
	return &jsonrpc.Error{Code: CodeStopped, Message: text, Data: data}
}

// run dials the server once and serves the connection. It returns when the connection has ended and
// all waiting calls are answered.
func (s *server) run() {
	m := s.m
	limit, cancel := context.WithTimeout(m.ctx, m.opts.StartLimit)
	defer cancel()
	conn, err := s.dial(limit)
	if err != nil {
		s.ended(nil, err)
		return
	}
	l := &line{Line: mcpline.New(conn, maxQueue), s: s, since: m.opts.Now(), pending: map[jsonrpc.ID]waiting{}}
	m.mu.Lock()
	s.line = l
	m.mu.Unlock()
	s.ended(l, l.Run(m.ctx, func(ctx context.Context) error { return l.greet(limit, ctx) }, l.got))
}

// ended removes a line, or a start that failed.
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

// wait sets when the server may be restarted: at once after its first end, then with pauses that
// double. A long run resets them. Its caller holds the lock.
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

// changed tells the client that lists have changed, because a server came or went.
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
