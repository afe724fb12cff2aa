// Package mcpservice builds the MCP gateway that several clients share. It consists of an HTTP
// handler, one monitor session and one set of servers for each client, and a relay in front of
// every server, in which the monitor judges what passes. A client cannot reach another client's
// servers, except those that the owner lets all clients share.
package mcpservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/mcp/mcpgateway"
	"github.com/floodmark/floodmark/internal/mcp/mcphttp"
	"github.com/floodmark/floodmark/internal/mcp/mcplogin"
	"github.com/floodmark/floodmark/internal/mcp/mcpmux"
	"github.com/floodmark/floodmark/internal/mcp/mcpshare"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// Path is the path of the gateway's address.
const Path = "/mcp"

const (
	headTime = 10 * time.Second
	idleTime = 2 * time.Minute
	lastTime = 5 * time.Second // for the last messages at the end
	maxHead  = 64 << 10
)

// Options are what a Service is made of.
type Options struct {
	Gateway config.Gateway
	Judge   mcpgateway.Judge
	Pins    mcpgateway.Pins
	// Admit returns the client with this token.
	Admit func(token string) (client string, err error)
	// Caller returns the process at the other end of a request; nil: no process is looked up.
	Caller func(*http.Request) (hook.Process, error)
	// Logins are the owner's logins at servers that need one; nil if there are none.
	Logins *mcplogin.Book
	// Env are the environment variables that every command gets, in addition to its own. The
	// gateway's other variables are not passed on, because they may contain credentials.
	Env []string
	// Home is the owner's home. Version is the version that clients and servers see.
	Home, Version string
	// Stderr gets the commands' standard error. Note gets lines for a person who is looking for the
	// cause of a problem. Both are called concurrently.
	Stderr io.Writer
	Note   func(server, line string)

	// start is mcpstdio.Start, and now is time.Now, unless a test sets them.
	start func(mcpstdio.Command) (mcp.Connection, error)
	now   func() time.Time
}

// A Service is the gateway.
type Service struct {
	o    Options
	door *mcphttp.Handler
	// logins are the holders of the owner's logins, by the servers' names. All clients share them.
	logins map[string]*mcplogin.Holder
	// shared are the servers that all clients use, by name.
	shared map[string]*mcpshare.Hub
}

// New returns a gateway without clients.
func New(o Options) *Service {
	if o.start == nil {
		o.start = mcpstdio.Start
	}
	s := &Service{o: o, logins: holders(o)}
	s.shared = s.hubs()
	s.door = mcphttp.NewHandler(mcphttp.Options{Admit: o.Admit, Open: s.open, Caller: o.Caller, Idle: time.Duration(o.Gateway.Idle)})
	return s
}

// Sessions returns the number of clients.
func (s *Service) Sessions() int { return s.door.Sessions() }

// Serve answers clients until ctx ends. Then it ends all sessions, and returns
// when every server that was started has ended.
func (s *Service) Serve(ctx context.Context, l net.Listener) error {
	paths := http.NewServeMux()
	paths.Handle(Path, s.door)
	web := &http.Server{Handler: paths, ConnContext: withConn, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	closed := s.door.Close()
	s.closeShared()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	if web.Shutdown(last) != nil {
		_ = web.Close() // closes connections that are still open
	}
	if err == nil {
		err = <-served
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closed)
}

// open returns a new client's connection: servers of its own behind one connection, in one session
// of the monitor.
func (s *Service) open(_ context.Context, p mcphttp.Peer) (mcp.Connection, error) {
	session := mcpgateway.NewSession(s.o.Judge, mcpgateway.Client{Agent: p.Agent, Claims: floodmark.SessionID(p.Join), Caller: p.Caller, Home: s.o.Home, Apart: true, Token: p.Client})
	options := mcpmux.Options{
		Name: "floodmark", Version: s.o.Version, Now: s.o.now,
		Report: func(server string, err error) { s.note(server, fmt.Errorf("%s: %w", p.Client, err)) },
	}
	for _, server := range s.o.Gateway.Servers {
		options.Upstreams = append(options.Upstreams, mcpmux.Upstream{
			Name: server.Name,
			Dial: func(ctx context.Context) (mcp.Connection, error) { return s.dial(ctx, session, server) },
		})
	}
	mux, err := mcpmux.New(options)
	if err != nil {
		return nil, err
	}
	return &client{Connection: mux, session: session}, nil
}

// A client is the connection to a client's servers together with its monitor session.
type client struct {
	mcp.Connection
	session *mcpgateway.Session
}

// Close closes the connection and ends the session.
func (c *client) Close() error {
	err := c.Connection.Close()
	last, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	_ = c.session.End(last) // if the monitor is gone, nothing is open there
	return err
}

// dial connects to a server and puts a relay before it.
func (s *Service) dial(ctx context.Context, session *mcpgateway.Session, server config.GatewayServer) (mcp.Connection, error) {
	upstream, err := s.connect(ctx, server)
	if err != nil {
		return nil, s.unreached(server, err)
	}
	near, far := mcpmux.Pipe()
	r := &relayed{Connection: near, done: make(chan struct{})}
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(r.done)
		r.err = mcpgateway.Run(ctx, far, upstream, mcpgateway.Options{
			Server: server.Name, Identity: identity(server), Session: session, Pins: s.o.Pins, Shared: server.Shared, Restarts: true,
			Note: func(line string) { s.o.Note(server.Name, line) },
		})
		if r.err != nil && ctx.Err() == nil {
			s.note(server.Name, r.err)
		}
	}()
	return r, nil
}

// identity returns the text that identifies a server when the owner accepts its definitions: its
// address, or its command.
func identity(server config.GatewayServer) string {
	if server.URL != "" {
		return server.URL
	}
	return strings.Join(append([]string{server.Command}, server.Args...), "\x00")
}

// reach starts a command or connects to an address. It sends no message yet, so its errors contain
// no server's words.
func (s *Service) reach(ctx context.Context, server config.GatewayServer) (mcp.Connection, error) {
	conn, err := s.begin(ctx, server)
	if err != nil {
		return nil, ours{err}
	}
	return conn, nil
}

func (s *Service) begin(ctx context.Context, server config.GatewayServer) (mcp.Connection, error) {
	if server.URL != "" {
		return mcphttp.Dial(ctx, mcphttp.Server{URL: server.URL, Credential: s.credential(server), Headers: func() (http.Header, error) {
			headers := http.Header{}
			for name, value := range server.Headers {
				text, err := value.Reveal()
				if err != nil {
					return nil, fmt.Errorf("headers: %s: %w", name, err)
				}
				headers.Set(name, text)
			}
			return headers, nil
		}})
	}
	args := append([]string{server.Command}, server.Args...)
	env := slices.Clone(s.o.Env)
	for name, value := range server.Env {
		text, err := value.Reveal()
		if err != nil {
			return nil, fmt.Errorf("env: %s: %w", name, err)
		}
		env = append(env, name+"="+text)
	}
	return s.o.start(mcpstdio.Command{
		Args: args, Env: env, Dir: server.Dir, Stderr: s.o.Stderr,
		Skipped: func(line string) { s.o.Note(server.Name, line) },
	})
}

// A relayed is the connection to a server through its relay.
type relayed struct {
	mcp.Connection
	done chan struct{}
	stop context.CancelFunc
	err  error // why the relay ended, once done is closed
}

// Read returns the next message. If the server has ended with an error, Read returns that error in
// place of [io.EOF].
func (r *relayed) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := r.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		<-r.done
		if r.err != nil {
			err = ended(r.err)
		}
	}
	return msg, err
}

// Close ends the relay and the server behind it, and waits for both. If the relay is stuck, because
// the server does not read, it is cancelled after lastTime.
func (r *relayed) Close() error {
	err := r.Connection.Close()
	patience := time.AfterFunc(lastTime, r.stop)
	defer patience.Stop()
	<-r.done
	r.stop()
	return err
}
