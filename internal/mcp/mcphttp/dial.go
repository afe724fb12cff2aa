package mcphttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/upstream"
	"github.com/floodmark/floodmark/internal/outward"
)

const (
	// MaxAnswer bounds one message of a server, in bytes.
	MaxAnswer = 16 << 20
	// noteTime bounds the delivery of a message that needs no answer.
	noteTime = 30 * time.Second
	dialTime = 10 * time.Second
	idleTime = 90 * time.Second
	maxIdle  = 16
	maxHead  = 64 << 10
)

// codeRejected is the SDK's own code for an undelivered message, which must not be taken for an
// error of the server.
const codeRejected = -32005

const versionHeader = "Mcp-Protocol-Version"

// A Server is an MCP server that is reached over HTTP.
type Server struct {
	// URL is its address: https, or http on this machine.
	URL string
	// Headers are sent with every request, as credentials are. They are fetched once per connection
	// and never shown.
	Headers func() (http.Header, error)
	// Credential provides a bearer token; nil: none is sent.
	Credential Credential
	// MaxAnswer, if positive, replaces the constant. It is for tests.
	MaxAnswer int64

	// transport replaces the transport to the network. It is for tests.
	transport http.RoundTripper
}

// Dial returns a connection to a server. It sends nothing before the first message is written.
func Dial(ctx context.Context, s Server) (mcp.Connection, error) {
	if err := upstream.CheckURL(s.URL); err != nil {
		return nil, err
	}
	if s.MaxAnswer <= 0 {
		s.MaxAnswer = MaxAnswer
	}
	var headers http.Header
	if s.Headers != nil {
		var err error
		if headers, err = s.Headers(); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	client := outward.Client(outward.Options{
		// Unencrypted requests stay on this machine, even if a name resolves elsewhere.
		Here: u.Scheme == "http", DialTime: dialTime, HeaderBytes: maxHead, Idle: maxIdle, IdleTime: idleTime, HTTP2: true,
	})
	if s.transport != nil {
		client.Transport = s.transport
	}
	door := &door{next: client.Transport, headers: headers, credential: s.Credential, at: u, max: s.MaxAnswer}
	client.Transport = door
	inner, err := (&mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, DisableStandaloneSSE: true, MaxEventSize: int(s.MaxAnswer)}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &remote{inner: inner, door: door, client: client, server: s, in: make(chan jsonrpc.Message), failed: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.work.Go(r.pump)
	return r, nil
}

// A door is the transport to a server: it adds headers, credential and protocol version to every
// request, and bounds every answer.
type door struct {
	next       http.RoundTripper
	headers    http.Header
	credential Credential
	at         *url.URL // of the server
	max        int64

	mu      sync.Mutex // guards version
	version string     // of the protocol, once agreed on
}

func (d *door) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range d.headers {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	d.mu.Lock()
	version := d.version
	d.mu.Unlock()
	if version != "" && req.Header.Get(versionHeader) == "" {
		req.Header.Set(versionHeader, version)
	}
	res, err := d.shown(req)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" || res.StatusCode != http.StatusOK {
		res.Body = &bounded{ReadCloser: res.Body, left: d.max}
	}
	return res, nil
}

// CloseIdleConnections closes unused connections; the client looks for this method here.
func (d *door) CloseIdleConnections() {
	if c, ok := d.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// bounded is a body that fails beyond its limit.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errors.New("the server's answer is too large")
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// A remote is the connection to a server over HTTP.
type remote struct {
	inner  mcp.Connection
	door   *door
	client *http.Client
	server Server
	in     chan jsonrpc.Message
	failed chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once
	work   sync.WaitGroup

	mu        sync.Mutex // guards all below
	over      bool
	err       error      // why it failed
	hello     jsonrpc.ID // of initialize
	listening bool
}

// SessionID implements [mcp.Connection].
func (r *remote) SessionID() string { return r.inner.SessionID() }

// Read implements [mcp.Connection].
func (r *remote) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-r.in:
		return msg, nil
	case <-r.failed:
		r.mu.Lock()
		defer r.mu.Unlock()
		return nil, r.err
	case <-r.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pump forwards messages from the SDK's connection, and takes the protocol version from the answer
// to initialize.
func (r *remote) pump() {
	for {
		msg, err := r.inner.Read(r.ctx)
		if err != nil {
			r.mu.Lock()
			r.err = plain(err)
			r.mu.Unlock()
			close(r.failed)
			return
		}
		if answer, ok := msg.(*jsonrpc.Response); ok && answer.Error == nil {
			r.agreed(answer)
		}
		r.give(msg)
	}
}

func (r *remote) give(msg jsonrpc.Message) {
	select {
	case r.in <- msg:
	case <-r.ctx.Done():
	}
}

// agreed reads the version in the answer to initialize.
func (r *remote) agreed(answer *jsonrpc.Response) {
	r.mu.Lock()
	ours := r.hello.IsValid() && r.hello == answer.ID
	r.mu.Unlock()
	var said struct {
		Version string `json:"protocolVersion"`
	}
	if !ours || json.Unmarshal(answer.Result, &said) != nil {
		return
	}
	r.door.mu.Lock()
	r.door.version = said.Version
	r.door.mu.Unlock()
}

// Write implements [mcp.Connection]. It does not wait for a call's answer. A call that cannot be
// delivered is answered with an error, and the connection goes on.
func (r *remote) Write(_ context.Context, msg jsonrpc.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return mcp.ErrConnectionClosed
	}
	req, ok := msg.(*jsonrpc.Request)
	if ok && req.IsCall() {
		if req.Method == "initialize" {
			r.hello = req.ID
		}
		r.work.Go(func() {
			if err := r.inner.Write(r.ctx, msg); err != nil {
				r.give(&jsonrpc.Response{ID: req.ID, Error: undelivered(err)})
			}
		})
		return nil
	}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.ctx, noteTime)
	err := r.inner.Write(ctx, msg) // a notification or answer that fails is lost, as on any network
	cancel()
	r.mu.Lock()
	if ok && req.Method == "notifications/initialized" && err == nil && !r.listening && !r.over {
		r.listening = true
		r.work.Go(r.listen)
	}
	return nil
}

// undelivered returns the error for a call that failed: the server's own refusal, or else err
// without addresses.
func undelivered(err error) error {
	where, said := new(url.Error), new(jsonrpc.Error)
	if !errors.As(err, &where) && errors.As(err, &said) && said.Code != codeRejected {
		return said
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: plain(err).Error()}
}

// plain removes the address from an error, because it may contain keys.
func plain(err error) error {
	if where := new(url.Error); errors.As(err, &where) {
		return fmt.Errorf("reach the server: %w", where.Err)
	}
	return err
}

// Close implements [mcp.Connection]: it also ends the session at the server.
func (r *remote) Close() error {
	r.once.Do(func() {
		r.mu.Lock()
		r.over = true
		r.mu.Unlock()
		_ = r.inner.Close() // a server that does not get this lets the session expire
		r.cancel()
	})
	r.work.Wait()
	r.client.CloseIdleConnections()
	return nil
}
