package mcphttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// memory is a network of one address in memory, which works in a bubble.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transport returns a transport to the server in memory.
func (m *memory) transport() *http.Transport { return &http.Transport{DialContext: m.dial} }

// serve serves a handler in memory until the test ends, and returns its address.
func serve(t *testing.T, h http.Handler) (string, *memory) {
	t.Helper()
	m := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	web := &httptest.Server{Listener: m, Config: &http.Server{Handler: h}} //nolint:gosec // only this test reaches it
	web.Start()
	t.Cleanup(web.Close)
	return web.URL, m
}
