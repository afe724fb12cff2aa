package soak

import (
	"net"
	"sync"
	"testing"
)

// A proxy relays between one node and one database server. While it is cut, it relays nothing and
// closes no connection, like a network that drops every packet.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex // guards all below
	open  chan struct{}
	conns map[net.Conn]bool
	done  bool
	work  sync.WaitGroup
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	p.work.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// cut stops the relaying.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// heal lets the proxy relay again.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// pass waits until the proxy is not cut.
func (p *proxy) pass() {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	<-open
}

// keep remembers a connection, so that it is closed when the proxy ends. If the proxy has ended,
// keep closes the connection and returns false.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.keep(c) {
			p.work.Go(func() { p.relay(c) })
		}
	}
}

func (p *proxy) relay(c net.Conn) {
	defer p.drop(c)
	p.pass()
	s, err := net.Dial("tcp", p.to)
	if err != nil || !p.keep(s) {
		return
	}
	defer p.drop(s)
	var both sync.WaitGroup
	both.Go(func() { p.copy(s, c) })
	p.copy(c, s)
	both.Wait()
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.pass()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.done = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.heal()
	p.work.Wait()
}

// freePorts returns ports without a listener.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
