package mcphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A session is one MCP session of a client, from initialize to its end. Two goroutines forward
// messages between the client's streams and the server.
type session struct {
	h         *Handler
	peer      Peer
	transport *mcp.StreamableServerTransport
	near, far mcp.Connection
	streams   *streams
	once      sync.Once
	stop      context.CancelFunc
	tries     sync.WaitGroup // the goroutines of later, which down starts

	mu    sync.Mutex // guards all below
	hello bool       // initialize was answered
	used  int        // requests under way
	idle  *time.Timer
	over  bool
	calls []openCall // the client's open calls, oldest first
	// listened is set when the client opens its stream for notifications.
	listened bool
	late     int // messages that wait for a client to listen
}

// openCall is a call of the client whose stream is open.
type openCall struct {
	id    jsonrpc.ID
	token string
}

// begin makes a session, with its server.
func (h *Handler) begin(ctx context.Context, peer Peer) (*session, error) {
	s := &session{h: h, peer: peer, transport: &mcp.StreamableServerTransport{SessionID: peer.ID}}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := h.enter(s); err != nil {
		return nil, err
	}
	var err error
	if s.near, err = s.transport.Connect(ctx); err == nil {
		s.streams, err = newStreams(ctx)
	}
	if err == nil {
		s.far, err = h.opts.Open(ctx, peer)
	}
	if err != nil {
		s.stop()
		if s.streams != nil {
			s.streams.close()
		}
		h.leave(s)
		h.work.Done()
		return nil, fmt.Errorf("begin a session: %w", err)
	}
	s.mu.Lock()
	s.idle = time.AfterFunc(h.opts.Idle, s.end)
	s.mu.Unlock()
	go s.run(ctx)
	return s, nil
}

// enter registers a session, and adds it to h.work; run or begin ends that.
func (h *Handler) enter(s *session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := 0
	for _, other := range h.sessions {
		if other.peer.Client == s.peer.Client {
			own++
		}
	}
	switch {
	case h.closed:
		return errors.New("the gateway is stopping")
	case len(h.sessions) >= MaxSessions || own >= MaxClientSessions:
		return fmt.Errorf("%d sessions are open, %d of them yours: end some", len(h.sessions), own)
	}
	h.sessions[s.peer.ID] = s
	h.work.Add(1)
	return nil
}

func (h *Handler) leave(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s.peer.ID)
}

// run forwards messages until one side ends, then ends the other.
func (s *session) run(ctx context.Context) {
	defer s.h.work.Done()
	var pumps sync.WaitGroup
	pumps.Go(func() { s.up(ctx); s.end() })
	pumps.Go(func() { s.down(ctx); s.end() })
	<-ctx.Done()
	s.h.leave(s)
	_ = s.near.Close() // no client is left to tell
	_ = s.far.Close()
	s.streams.close()
	pumps.Wait()
	s.tries.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.idle.Stop()
}

// end ends a session. It does not wait.
func (s *session) end() { s.once.Do(func() { s.h.leave(s); s.stop() }) }

func (s *session) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hello
}

// listens notes that the client opened its stream for notifications.
func (s *session) listens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listened = true
}

// use keeps the session from being idle until the returned function is called.
func (s *session) use() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
	if s.idle != nil {
		s.idle.Stop()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.used--
		if s.used == 0 && !s.over && s.idle != nil {
			s.idle.Reset(s.patience())
		}
	}
}

// hungUp is how long a client that has listened for notifications and has no request open may be
// silent. It is short, because most clients end without a message.
const hungUp = 5 * time.Minute

// patience is how long the session may be idle. Its caller holds the lock.
func (s *session) patience() time.Duration {
	if s.listened {
		return min(hungUp, s.h.opts.Idle)
	}
	return s.h.opts.Idle
}

// up forwards messages of the client to the server.
func (s *session) up(ctx context.Context) {
	for {
		msg, err := s.near.Read(ctx)
		if err != nil {
			return
		}
		if req, ok := msg.(*jsonrpc.Request); ok {
			req = unwrap(req)
			if req.IsCall() {
				s.opened(req)
			}
			msg = req
		}
		if err := s.far.Write(ctx, msg); err != nil {
			return
		}
	}
}

func (s *session) opened(req *jsonrpc.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, openCall{id: req.ID, token: tokenIn(req.Params, true)})
}

// down forwards messages of the server to the client.
func (s *session) down(ctx context.Context) {
	for {
		msg, err := s.far.Read(ctx)
		if err != nil {
			return
		}
		switch msg := msg.(type) {
		case *jsonrpc.Response:
			s.answered(msg)
			_ = s.near.Write(ctx, msg) // a client that hung up gets no answer
		case *jsonrpc.Request:
			if s.tell(ctx, msg) != nil {
				s.later(ctx, msg)
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// How long messages wait for a client that is not listening yet, as between initialize and the
// opening of its stream; how often that is checked; and how many messages may wait.
const (
	listenWait = 5 * time.Second
	listenLook = 20 * time.Millisecond
	maxLater   = 64
)

// later retries in a goroutine until the client listens, so that the server does not wait for a
// client that never listens.
func (s *session) later(ctx context.Context, msg *jsonrpc.Request) {
	s.mu.Lock()
	room := s.late < maxLater
	if room {
		s.late++
	}
	s.mu.Unlock()
	if !room {
		s.unheard(ctx, msg)
		return
	}
	s.tries.Go(func() {
		defer func() { s.mu.Lock(); defer s.mu.Unlock(); s.late-- }()
		look := time.NewTicker(listenLook)
		defer look.Stop()
		for range listenWait / listenLook {
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
			if s.tell(ctx, msg) == nil {
				return
			}
		}
		s.unheard(ctx, msg)
	})
}

func (s *session) unheard(ctx context.Context, msg *jsonrpc.Request) {
	if msg.IsCall() {
		_ = s.far.Write(ctx, &jsonrpc.Response{ID: msg.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client is not listening"}}) // a server that has ended needs no answer
	}
}

func (s *session) answered(msg *jsonrpc.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hello = s.hello || msg.Error == nil // before initialize, no call succeeds
	for i, c := range s.calls {
		if c.id == msg.ID {
			s.calls = append(s.calls[:i], s.calls[i+1:]...)
			return
		}
	}
}

// tell writes a notification or request of the server to the stream on which the client expects it:
//
//   - progress to the stream of the call it is about;
//   - changes of lists and resources to the stream for notifications;
//   - anything else to the stream of the newest call.
//
// If that fails, it tries the other kind of stream.
func (s *session) tell(ctx context.Context, req *jsonrpc.Request) error {
	id := s.about(req)
	news := strings.HasSuffix(req.Method, "list_changed") || req.Method == "notifications/resources/updated"
	first, second := s.streams.of(ctx, id), ctx
	if news {
		first, second = second, first
	}
	err := s.near.Write(first, req)
	if err != nil && id.IsValid() {
		err = s.near.Write(second, req)
	}
	return err
}

// about returns the id of the call that a message belongs to, or an invalid id if no call is open.
func (s *session) about(req *jsonrpc.Request) jsonrpc.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return jsonrpc.ID{}
	}
	if req.Method == "notifications/progress" {
		token := tokenIn(req.Params, false)
		for _, c := range s.calls {
			if c.token == token {
				return c.id
			}
		}
	}
	return s.calls[len(s.calls)-1].id
}

// tokenIn returns the progress token in parameters, as it was written.
func tokenIn(params json.RawMessage, inMeta bool) string {
	if !bytes.Contains(params, []byte("progressToken")) {
		return ""
	}
	var said struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		Token json.RawMessage `json:"progressToken"`
	}
	if json.Unmarshal(params, &said) != nil {
		return ""
	}
	if inMeta {
		return string(said.Meta.Token)
	}
	return string(said.Token)
}
