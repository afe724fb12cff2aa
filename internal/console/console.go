// Package console serves the console: the owner's pages in a browser. On this machine, [Console] knows
// which browser a person at a terminal opened, and refuses any other program, above all those that
// an agent started. On the network, [Network] serves people who log in at their identity provider,
// and cannot know which program asks. What the pages show and do is answered by the services of package httpapi.
package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// Options are what a console is made of.
type Options struct {
	// API answers the pages. The caller is in the request's context.
	API http.Handler
	// Judge identifies the process at the other end of a connection; guess is looked at first. It
	// returns false where the system does not tell, and then the console only shows.
	Judge func(ours, theirs netip.AddrPort, guess peer.Process) (peer.Caller, bool)
	// Still judges a process again.
	Still func(peer.Caller) peer.Caller
	// Listens reports whether a process waits for connections of others, for whom it may speak.
	Listens func(peer.Peer) bool
	// Person reports whether a person at a terminal asks.
	Person func(ctx context.Context, who httpapi.Identity) bool
	// Off is why there is no console here; empty if there is one.
	Off string
	// Incident records what should not have been tried.
	Incident func(ctx context.Context, kind, text string)
	Log      *slog.Logger
	Now      func() time.Time
}

// The limits of the listener. A browser has at most six connections for all its pages.
const (
	maxConnections = 64
	maxLooking     = 2 // searches for the process behind a connection at once
	maxHeaderBytes = 16 << 10
	headerTimeout  = 5 * time.Second
	idleTimeout    = 2 * time.Minute
	stopTime       = time.Second // for answers under way when the console ends: their calls are cancelled
)

// A Console is closed until somebody opens it: until then it has no port and no goroutine besides
// the one of [Console.Run].
type Console struct {
	opts Options
	book *book

	mu     sync.Mutex // guards the fields below
	at     string     // the address that is open; empty: none
	server *http.Server
	ended  bool
	opened chan opening
}

// An opening is a listener that Run is to serve.
type opening struct {
	server   *http.Server
	listener net.Listener
}

var _ httpapi.Opener = (*Console)(nil)

// New returns a console that is closed.
func New(o Options) *Console {
	return &Console{opts: o, book: newBook(o.Now), opened: make(chan opening, 1)}
}

// Run serves the console, once it is open, until ctx ends or Stop is called. A listener that breaks
// is a matter of the console alone: the next OpenConsole opens another.
func (c *Console) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			c.unserved()
			return nil
		case o, more := <-c.opened:
			if !more {
				return nil
			}
			o.server.BaseContext = func(net.Listener) context.Context { return ctx }
			if err := o.server.Serve(o.listener); !errors.Is(err, http.ErrServerClosed) {
				c.opts.Log.Error("the console is closed", "error", err)
			}
			c.closed(o.server)
		}
	}
}

// unserved closes a listener that was opened too late.
func (c *Console) unserved() {
	select {
	case o, more := <-c.opened:
		if more {
			_ = o.listener.Close() // nobody is connected
		}
	default:
	}
}

// closed forgets a server that has ended.
func (c *Console) closed(s *http.Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == s {
		c.server, c.at = nil, ""
		c.book.end()
	}
}

// Stop ends all pages and waits for requests in flight, but not for a page that does not read its
// answer.
func (c *Console) Stop(ctx context.Context) error {
	c.mu.Lock()
	server := c.server
	if !c.ended {
		c.ended = true
		close(c.opened)
	}
	c.book.end()
	c.mu.Unlock()
	if server == nil {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	if server.Shutdown(soon) == nil {
		return nil
	}
	return errors.Join(ctx.Err(), server.Close())
}

// address returns the address of the listener, which it opens if there is none.
func (c *Console) address(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return "", errors.New("the monitor is ending")
	}
	if c.at != "" {
		return c.at, nil
	}
	l, err := listen(ctx)
	if err != nil {
		return "", err
	}
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return "", errors.Join(err, l.Close())
	}
	c.server, c.at = c.newServer(at.String()), at.String()
	c.opened <- opening{c.server, &room{Listener: l, most: maxConnections}} // one at a time, so it never waits
	return c.at, nil
}

// listen opens a port at an address of the loopback that nobody had before: 127.a.b.c, drawn by lot.
// A browser keeps what an origin left in it: stored scripts, and service workers, which answer in the
// place of the server. A program that an agent wrote can have left them for every port of 127.0.0.1
// that the owner's browser ever asked. Only Linux has these addresses without being told.
func listen(ctx context.Context) (net.Listener, error) {
	var b [3]byte
	_, _ = rand.Read(b[:]) // it never fails: without randomness the program crashes
	b[0] |= 1 << 7         // not 127.0.0.1, and no address that programs choose

	at := netip.AddrFrom4([4]byte{127, b[0], b[1], b[2] &^ 1}) // not the last one, which is for all
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", netip.AddrPortFrom(at, 0).String())
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	}
	return l, err
}

func (c *Console) newServer(at string) *http.Server {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return &http.Server{
		Handler: &door{Options: c.opts, book: c.book, at: at, looking: make(chan struct{}, maxLooking)}, Protocols: p,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ConnContext: withLine, ErrorLog: slog.NewLogLogger(c.opts.Log.Handler(), slog.LevelDebug),
	}
}

// OpenConsole implements [httpapi.Opener].
func (c *Console) OpenConsole(ctx context.Context, who httpapi.Identity, r *wire.OpenConsoleRequest) (*wire.OpenConsoleResponse, error) {
	if c.opts.Person == nil || !c.opts.Person(ctx, who) {
		return nil, fmt.Errorf("%w: a person at a terminal of this machine must open the console; a script cannot", httpapi.ErrInvalid)
	}
	if c.opts.Off != "" {
		return nil, fmt.Errorf("%w: %s", httpapi.ErrInvalid, c.opts.Off)
	}
	at, err := c.address(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: no port for the console: %w", httpapi.ErrInvalid, err)
	}
	seat := seat{who: httpapi.Identity{Tenant: who.Tenant, Name: who.Name, Channel: httpapi.ByConsole, Here: true, May: who.May & httpapi.OwnerMay, Groups: who.Groups}}
	if r.GetOnlyShows() {
		seat.only("it was opened with --only-show")
	}
	if !c.tells() {
		seat.only(untold)
	}
	code, ends := c.book.invite(seat)
	return &wire.OpenConsoleResponse{Link: "http://" + at + "/#open=" + code, Expires: timestamppb.New(ends), OnlyShows: seat.why}, nil
}

// untold is why the console only shows where the system does not tell who is at the other end.
const untold = "this system does not tell which program opened a connection, and an agent could have: answer with «floodmark watch»"

// tells reports whether the system tells which process opened a connection.
func (c *Console) tells() bool {
	_, told := c.opts.Judge(netip.AddrPort{}, netip.AddrPort{}, peer.Process{})
	return told
}

// CloseConsole implements [httpapi.Opener].
func (c *Console) CloseConsole(context.Context, httpapi.Identity, *wire.CloseConsoleRequest) (*wire.CloseConsoleResponse, error) {
	return &wire.CloseConsoleResponse{Ended: int32(c.book.end())}, nil
}
