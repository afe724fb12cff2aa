// Package mcphttp carries MCP over HTTP in both directions: [Handler] accepts clients and makes a
// connection for each of their sessions, and [Dial] connects to a server. The SDK's transports
// speak the protocol. This package adds the checks that they lack: tokens, origins and hosts, and
// limits on size, number and time. It reads no more of a message than it needs to forward it.
//
// The SDK's transports are made for its own clients and servers, so streams.go and wrap.go work
// around them. A fork, or a protocol of our own, would be more to maintain. Versions of MCP without
// sessions are refused with the list of supported versions, because several servers with state
// behind one address need a session.
package mcphttp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/hook"
)

// Limits of a Handler. The 16 MiB for a message with its arguments are also the SDK's limit on
// stdio.
const (
	// MaxBody bounds one message of a client, in bytes.
	MaxBody = 16 << 20
	// MaxBatch bounds the messages in one body.
	MaxBatch = 64
	// MaxSessions bounds all open sessions. MaxClientSessions bounds those of one client.
	MaxSessions       = 1024
	MaxClientSessions = 256
	// MaxJoin bounds the headers [SessionHeader] and [AgentHeader].
	MaxJoin = 256
	// stall bounds how long the client may take to send its message, and how long a write may wait
	// for it.
	stall = time.Minute
)

// SessionHeader and AgentHeader name the agent's session that a client's session belongs to. They
// are a claim, which must be checked before a decision relies on it.
const (
	SessionHeader = "Floodmark-Session"
	AgentHeader   = "Floodmark-Agent"
)

const sessionIDHeader = "Mcp-Session-Id"

// A Peer is the client that opened a session.
type Peer struct {
	// Client is the name of the client's token. ID is the id of the MCP session.
	Client, ID string
	// Join and Agent are the values of [SessionHeader] and [AgentHeader], or empty.
	Join, Agent string
	// Caller is the client's process; zero if unknown.
	Caller hook.Process
}

// Options are what a Handler is made of.
type Options struct {
	// Admit returns the client with this token. If it returns an error, the request is refused.
	Admit func(token string) (client string, err error)
	// Caller returns the process at the other end of a request; zero if unknown. If it returns an
	// error, the request is refused with the error's text. Nil: no process is looked up.
	Caller func(*http.Request) (hook.Process, error)
	// Open connects a new session to its server. The Handler closes it.
	Open func(context.Context, Peer) (mcp.Connection, error)
	// Hosts are the names under which clients reach this Handler, besides localhost and loopback
	// addresses.
	Hosts []string
	// Idle is the time without a message after which a session ends; zero: 30 minutes.
	Idle time.Duration
	// MaxBody, if positive, replaces the constant. It is for tests.
	MaxBody int64
}

// A Handler serves clients. The caller of NewHandler closes it; after that it begins no session.
type Handler struct {
	opts    Options
	origins *http.CrossOriginProtection
	work    sync.WaitGroup

	mu       sync.Mutex // guards all below
	closed   bool
	sessions map[string]*session
}

// NewHandler returns a Handler.
func NewHandler(opts Options) *Handler {
	if opts.Idle <= 0 {
		opts.Idle = 30 * time.Minute
	}
	if opts.MaxBody <= 0 {
		opts.MaxBody = MaxBody
	}
	return &Handler{opts: opts, origins: http.NewCrossOriginProtection(), sessions: map[string]*session{}}
}

// Close ends every session and waits until all that belonged to them has ended.
func (h *Handler) Close() error {
	h.mu.Lock()
	h.closed = true
	var all []*session
	for _, s := range h.sessions {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		s.end()
	}
	h.work.Wait()
	return nil
}

// Sessions returns the number of open sessions.
func (h *Handler) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.hosted(r.Host) {
		http.Error(w, "this door is not reached by that name (a page on the web may be behind it)", http.StatusForbidden)
		return
	}
	// A browser sends the origin of a page. No MCP client is a page of another origin.
	if err := h.origins.Check(r); err != nil || r.Header.Get("Origin") != "" && !h.origin(r.Header.Get("Origin")) {
		http.Error(w, "pages of other places may not call this", http.StatusForbidden)
		return
	}
	client, ok := h.admitted(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="floodmark"`)
		http.Error(w, "show a token: «Authorization: Bearer …», made with «floodmark fleet token create NAME»", http.StatusUnauthorized)
		return
	}
	who := Peer{Client: client}
	if h.opts.Caller != nil {
		var err error
		if who.Caller, err = h.opts.Caller(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, who)
	case http.MethodGet:
		if !accepts(r, "text/event-stream") {
			http.Error(w, "Accept must have text/event-stream", http.StatusNotAcceptable)
			return
		}
		if s := h.known(w, r, who); s != nil {
			s.listens()
			defer s.use()()
			s.transport.ServeHTTP(&patient{ResponseWriter: w, out: http.NewResponseController(w)}, r)
		}
	case http.MethodDelete:
		if s := h.known(w, r, who); s != nil {
			s.end()
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// hosted reports whether a request names one of our hosts. A page that has bound its own host name
// to our address (DNS rebinding) sends that name, and is refused.
func (h *Handler) hosted(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.Trim(name, "[]")
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() || strings.EqualFold(name, "localhost") {
		return true
	}
	for _, ours := range h.opts.Hosts {
		if strings.EqualFold(ours, name) || strings.EqualFold(ours, host) {
			return true
		}
	}
	return false
}

func (h *Handler) origin(origin string) bool {
	_, host, ok := strings.Cut(origin, "://")
	return ok && h.hosted(host)
}

func (h *Handler) admitted(r *http.Request) (string, bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", false
	}
	client, err := h.opts.Admit(token)
	return client, err == nil && client != ""
}

// known returns the session of a request. A session that another client or process began is not
// found, because its rights depend on who began it.
func (h *Handler) known(w http.ResponseWriter, r *http.Request, who Peer) *session {
	id := r.Header.Get(sessionIDHeader)
	if id == "" {
		http.Error(w, "this needs the header "+sessionIDHeader, http.StatusBadRequest)
		return nil
	}
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil || s.peer.Client != who.Client || s.peer.Caller != who.Caller {
		http.Error(w, "no such session: say initialize again", http.StatusNotFound)
		return nil
	}
	return s
}

func accepts(r *http.Request, kinds ...string) bool {
	said := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	for _, kind := range kinds {
		group, _, _ := strings.Cut(kind, "/")
		if !strings.Contains(said, kind) && !strings.Contains(said, group+"/*") && !strings.Contains(said, "*/*") {
			return false
		}
	}
	return true
}

// post accepts messages of a client.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, who Peer) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r, "application/json", "text/event-stream") {
		http.Error(w, "Accept must have application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(stall)) // a writer without deadlines has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "read the body: "+err.Error(), status)
		return
	}
	mail, err := open(body)
	if err != nil {
		h.refuse(w, mail.first, http.StatusBadRequest, jsonrpc.CodeParseError, err.Error())
		return
	}
	if !h.speaks(w, r, mail) {
		return
	}
	s := h.session(w, r, who, mail)
	if s == nil {
		return
	}
	defer s.use()()
	r.Body = io.NopCloser(bytes.NewReader(mail.body))
	s.transport.ServeHTTP(&patient{ResponseWriter: w, out: http.NewResponseController(w)}, r)
	if mail.begins && !s.begun() {
		s.end()
	}
}

// session returns the session of messages, or begins one for an initialize.
func (h *Handler) session(w http.ResponseWriter, r *http.Request, who Peer, mail mail) *session {
	if r.Header.Get(sessionIDHeader) != "" {
		return h.known(w, r, who)
	}
	if !mail.begins {
		// Clients of MCP versions without sessions send initialize after this answer.
		h.refuse(w, mail.first, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "this server has sessions: say initialize first")
		return nil
	}
	join, agent := r.Header.Get(SessionHeader), r.Header.Get(AgentHeader)
	if len(join) > MaxJoin || len(agent) > MaxJoin {
		h.refuse(w, mail.first, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, fmt.Sprintf("%s and %s have at most %d bytes", SessionHeader, AgentHeader, MaxJoin))
		return nil
	}
	s, err := h.begin(r.Context(), Peer{Client: who.Client, ID: rand.Text(), Join: join, Agent: agent, Caller: who.Caller})
	if err != nil {
		h.refuse(w, mail.first, http.StatusServiceUnavailable, jsonrpc.CodeInternalError, err.Error())
		return nil
	}
	return s
}

func (h *Handler) refuse(w http.ResponseWriter, id jsonrpc.ID, status int, code int64, message string) {
	h.refuseWith(w, id, status, &jsonrpc.Error{Code: code, Message: message})
}

func (h *Handler) refuseWith(w http.ResponseWriter, id jsonrpc.ID, status int, why *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	data, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: why})
	if err == nil {
		_, _ = w.Write(data) // the client may be gone
	}
}

// mail holds the messages of one body.
type mail struct {
	body   []byte     // for the SDK
	begins bool       // whether a message is an initialize call
	first  jsonrpc.ID // the id of the first call
	// version is the protocol version in a message's _meta, where clients of the versions without
	// sessions put it.
	version string
}

// open reads as much of a body as needed: whether it begins a session, and which methods the SDK
// does not know. It wraps the latter so that the SDK passes them.
func open(body []byte) (mail, error) {
	m := mail{body: body}
	batch := []json.RawMessage{body}
	isBatch := len(bytes.TrimSpace(body)) > 0 && bytes.TrimSpace(body)[0] == '['
	if isBatch {
		batch = nil
		if err := json.Unmarshal(body, &batch); err != nil {
			return m, errors.New("not JSON")
		}
	}
	if len(batch) == 0 || len(batch) > MaxBatch {
		return m, fmt.Errorf("%d messages in one body, want 1 to %d", len(batch), MaxBatch)
	}
	changed := false
	for i, raw := range batch {
		msg, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return m, fmt.Errorf("not a message: %w", err)
		}
		req, ok := msg.(*jsonrpc.Request)
		if !ok {
			continue
		}
		if !m.first.IsValid() {
			m.first = req.ID
		}
		if m.version == "" {
			m.version = versionIn(req.Params)
		}
		m.begins = m.begins || req.Method == "initialize" && req.IsCall()
		if !known(req) {
			if batch[i], err = wrap(req); err != nil {
				return m, err
			}
			changed = true
		}
	}
	if changed && !isBatch {
		m.body = batch[0]
	} else if changed {
		m.body, _ = json.Marshal(batch) // values that were decoded can be encoded
	}
	return m, nil
}

// patient is a writer that limits how long each write may wait for the client.
type patient struct {
	http.ResponseWriter
	out *http.ResponseController
}

func (p *patient) Write(data []byte) (int, error) {
	_ = p.out.SetWriteDeadline(time.Now().Add(stall)) // a writer without deadlines has none
	return p.ResponseWriter.Write(data)
}

// Flush sends what was written.
func (p *patient) Flush() { _ = p.out.Flush() } // if the client is gone, the next write fails

// Unwrap returns the inner writer for [http.ResponseController].
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
