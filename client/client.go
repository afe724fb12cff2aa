// Package client asks a running Floodmark daemon, over its local socket or over TLS. On any error
// the reply it returns restricts; the client never allows anything by itself.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/wire"
)

const (
	// DefaultTimeout is how long [Client.Handle] waits if its context has no deadline. It is less
	// than the timeouts of agents' hooks.
	DefaultTimeout = 20 * time.Second
	// MaxReplyBytes bounds a reply. A reply can contain the whole text that the agent sent, so it
	// may be as large as an event.
	MaxReplyBytes = hook.MaxEventBytes
	// idleConnections is how many connections are kept for the next calls. A gateway passes on many
	// calls at once, and a new connection is slow, because the daemon has to ask the system for its
	// caller.
	idleConnections = 128
	// MaxOwnerBytes bounds one answer to an owner, such as a long session with all its facts.
	MaxOwnerBytes = 256 << 20
)

// Options say how to reach a daemon. The zero Options are right for a local socket.
type Options struct {
	// Token is sent with each call. It can be used only over TLS.
	Token string
	// Bearer returns the token to send with a call, for a token that is renewed from time to time.
	// If it is set, Token is not used. If it returns an error, the call fails.
	Bearer func(context.Context) (string, error)
	// TLS holds the authorities to trust and a client certificate, if any. Its MinVersion is raised
	// to TLS 1.3.
	TLS *tls.Config
	// Timeout bounds one call of Handle; zero means [DefaultTimeout].
	Timeout time.Duration
	// Also are further addresses of the same fleet, as https:// URLs, for callers without a load
	// balancer.
	Also []string
}

// A Client asks one daemon. It is safe for concurrent use.
type Client struct {
	transport *http.Transport
	ways      []way // the addresses of one fleet; a local socket is a single one
	tries     int
	turn      atomic.Int64 // index of the address that answered last
	owner     wire.OwnerServiceClient
	machines  wire.MachineServiceClient
	console   wire.ConsoleServiceClient
	timeout   time.Duration
}

// Dial returns a client for the daemon at a socket's path or an https:// URL. It does not connect
// yet. If the daemon is not there, the calls return errors.
func Dial(target string, o Options) (*Client, error) {
	c := &Client{transport: &http.Transport{IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: idleConnections}, timeout: o.Timeout, tries: 1}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	base, err := c.reach(target, o)
	if err != nil {
		return nil, err
	}
	// Redirects are not followed, because a token is only for the daemon it was given for.
	web := &http.Client{Transport: c.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	plain := connect.WithAcceptCompression("gzip", nil, nil)
	token := connect.WithInterceptors(bearer{o.Token, o.Bearer})
	for _, base := range append([]string{base}, o.Also...) {
		c.ways = append(c.ways, way{wire.NewHookServiceClient(web, base, plain, token, connect.WithReadMaxBytes(MaxReplyBytes))})
	}
	c.owner = wire.NewOwnerServiceClient(web, base, plain, token, connect.WithReadMaxBytes(MaxOwnerBytes))
	c.machines = wire.NewMachineServiceClient(web, base, plain, token, connect.WithReadMaxBytes(MaxOwnerBytes))
	c.console = wire.NewConsoleServiceClient(web, base, plain, token, connect.WithReadMaxBytes(MaxOwnerBytes))
	return c, nil
}

// reach configures the transport and returns the URL to call.
func (c *Client) reach(target string, o Options) (string, error) {
	if path, ok := strings.CutPrefix(target, "unix://"); ok || !strings.Contains(target, "://") {
		switch {
		case !ok:
			path = target
		case path == "":
			return "", errors.New("dial floodmark: unix:// needs a path behind it")
		}
		if path == "" || !filepath.IsAbs(path) {
			return "", fmt.Errorf("dial floodmark: %q is no absolute path of a socket and no https:// URL", target)
		}
		if len(o.Also) > 0 {
			return "", errors.New("dial floodmark: a local socket has one monitor behind it; other addresses are for https:// URLs")
		}
		if o.Token != "" || o.Bearer != nil {
			return "", errors.New("dial floodmark: a token is for https:// URLs; a local socket knows its caller")
		}
		c.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		return "http://floodmark", nil
	}
	for _, address := range append([]string{target}, o.Also...) {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return "", errors.New("dial floodmark: want a socket's path or a URL such as https://floodmark.firm.example:7443; nothing else is safe")
		}
	}
	c.tries = MaxTries
	c.transport.DialContext = dialer()
	c.transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS13}
	if o.TLS != nil {
		c.transport.TLSClientConfig = o.TLS.Clone()
		c.transport.TLSClientConfig.MinVersion = max(o.TLS.MinVersion, tls.VersionTLS13)
	}
	c.transport.ForceAttemptHTTP2 = true
	return target, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Owner returns the client for what an owner can ask and do; see package wire. [Explain] puts its
// errors in words.
func (c *Client) Owner() wire.OwnerServiceClient { return c.owner }

// Machines returns the client for what can be asked and done about laptops in a fleet.
func (c *Client) Machines() wire.MachineServiceClient { return c.machines }

// Console returns the client that opens the console, the owner's pages in a browser.
func (c *Client) Console() wire.ConsoleServiceClient { return c.console }

// Handle reports an event of an agent to the daemon and returns what the agent must do. On any
// error (no daemon, no answer in time, an answer that is not understood) the reply is the zero
// reply, which restricts, with a line that says so. The error is for logs; a caller that ignores it
// is still safe. A fleet is asked up to [MaxTries] times within [TryWithin].
func (c *Client) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	if err := ev.Check(); err != nil {
		reply, err := refused(err)
		reply.Line += " Check what the agent sends against the reference of the hook API."
		return reply, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	reply, err := c.ask(ctx, ev)
	if err == nil {
		err = reply.Check(ev.Point)
	}
	if err != nil {
		return refused(err)
	}
	return reply, nil
}

func refused(err error) (hook.Reply, error) {
	if errors.Is(err, hook.ErrNoBox) {
		return hook.Reply{Line: "refused because " + err.Error() + "."}, fmt.Errorf("ask floodmark: %w", err)
	}
	return hook.Reply{Line: "Floodmark refuses this because it was not judged: " + Explain(err)}, fmt.Errorf("ask floodmark: %w", err)
}

// bearer adds a token to every call.
type bearer struct {
	text  string
	fresh func(context.Context) (string, error)
}

func (b bearer) set(ctx context.Context, h http.Header) error {
	text := b.text
	if b.fresh != nil {
		var err error
		if text, err = b.fresh(ctx); err != nil {
			return err
		}
	}
	if text != "" {
		h.Set("Authorization", "Bearer "+text)
	}
	return nil
}

// WrapUnary implements [connect.Interceptor].
func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if err := b.set(ctx, r.Header()); err != nil {
			return nil, err
		}
		return next(ctx, r)
	}
}

// WrapStreamingClient implements [connect.Interceptor].
func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		if err := b.set(ctx, conn.RequestHeader()); err != nil {
			return unsent{conn, err}
		}
		return conn
	}
}

// WrapStreamingHandler implements [connect.Interceptor].
func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// unsent is a stream on which nothing is sent, because there is no token for it.
type unsent struct {
	connect.StreamingClientConn
	err error
}

// Send implements [connect.StreamingClientConn].
func (u unsent) Send(any) error { return u.err }

// CloseRequest implements [connect.StreamingClientConn].
func (unsent) CloseRequest() error { return nil }

// CloseResponse implements [connect.StreamingClientConn].
func (unsent) CloseResponse() error { return nil }
