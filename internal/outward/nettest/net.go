// Package nettest is a network in memory for tests. A dial reaches only listeners of this network.
// Both ends of a connection block as channels do, so that a server and its clients can be in one
// bubble of testing/synctest. It opens no socket.
package nettest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"syscall"
)

// A Net is one network. Its methods may be called from any goroutine.
type Net struct {
	mu        sync.Mutex // guards what is below
	listeners map[string]*listener
	port      int // the last port that was used
}

// New returns a network without listeners.
func New() *Net { return &Net{listeners: map[string]*listener{}} }

// Listen returns a listener on a port of 127.0.0.1 that was not used before.
func (n *Net) Listen() net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &listener{
		net: n, address: n.fresh(),
		dialled: make(chan net.Conn), closed: make(chan struct{}),
	}
	n.listeners[l.address.String()] = l
	return l
}

// fresh returns an address that was not used before. The caller holds the lock.
func (n *Net) fresh() *net.TCPAddr {
	n.port++
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: n.port}
}

func (n *Net) dialler() *net.TCPAddr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fresh()
}

// Dial connects to a listener as [net.Dialer.DialContext] does. If there is no listener, the
// connection is refused.
func (n *Net) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	wrong := &net.OpError{Op: "dial", Net: network, Addr: name(address), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	if l == nil {
		return nil, wrong
	}
	near, far := connect(n.dialler(), l.address)
	select {
	case l.dialled <- far:
		return near, nil
	case <-l.closed:
	case <-ctx.Done():
		wrong.Err = ctx.Err()
	}
	return nil, wrong
}

// Server returns a server on the network that is not started yet and logs nothing.
func (n *Net) Server(h http.Handler) *httptest.Server {
	return &httptest.Server{Listener: n.Listen(), Config: &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}} //nolint:gosec // a test ends a request that hangs
}

// A name is an address as it was written.
type name string

// Network implements [net.Addr].
func (name) Network() string { return "tcp" }

// String implements [net.Addr].
func (a name) String() string { return string(a) }

type listener struct {
	net     *Net
	address *net.TCPAddr
	dialled chan net.Conn
	closed  chan struct{} // closed when the listener is closed
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. A second call is an error.
func (l *listener) Close() error {
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	if l.net.listeners[l.address.String()] != l {
		return net.ErrClosed
	}
	delete(l.net.listeners, l.address.String())
	close(l.closed)
	return nil
}

// Addr implements [net.Listener].
func (l *listener) Addr() net.Addr { return l.address }
