package hookframe

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// firstByteWithin is how long the first byte of a connection may take.
const firstByteWithin = 5 * time.Second

// A Conn is a connection whose first byte was read ahead. Read returns that byte again.
type Conn struct {
	net.Conn
	first []byte // read, and not returned yet
}

// NetConn returns the underlying connection, for asking the system about its peer. Reading from it
// may miss the first byte.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Read returns the byte read ahead first.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.first) == 0 || len(p) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

// Split separates the connections of l: frames, whose first byte is zero, and the rest, which is
// HTTP. The caller must accept from both listeners until it closes one. Closing one closes both and
// l, and waits until connections without a first byte are dropped; accepted connections continue. l
// must bound the number of connections, see [Bound].
func Split(l net.Listener) (frames, http net.Listener) {
	s := &splitter{l: l, done: make(chan struct{}), undecided: map[net.Conn]struct{}{}}
	f, h := &half{s: s, conns: make(chan net.Conn)}, &half{s: s, conns: make(chan net.Conn)}
	s.work.Go(func() { s.accept(f, h) })
	return f, h
}

type splitter struct {
	l    net.Listener
	done chan struct{} // closed when both listeners are closed
	work sync.WaitGroup

	mu        sync.Mutex // guards what follows
	closed    bool
	why       error // why accepting ended, if not by Close
	undecided map[net.Conn]struct{}
}

func (s *splitter) accept(frames, http *half) {
	for {
		conn, err := s.l.Accept()
		if err != nil {
			var wait interface{ Temporary() bool }
			if errors.As(err, &wait) && wait.Temporary() {
				s.rest()
				continue
			}
			s.end(err)
			return
		}
		s.work.Go(func() { s.decide(conn, frames, http) })
	}
}

// rest pauses because the system is short of resources.
func (s *splitter) rest() {
	t := time.NewTimer(10 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.done:
	}
}

func (s *splitter) decide(conn net.Conn, frames, http *half) {
	to := http
	first, ok := s.first(conn)
	if !ok {
		_ = conn.Close()
		return
	}
	if first[0] == 0 {
		to = frames
	}
	select {
	case to.conns <- &Conn{Conn: conn, first: first}:
	case <-s.done:
		_ = conn.Close()
	}
}

// first waits for one byte, until both listeners are closed.
func (s *splitter) first(conn net.Conn) ([]byte, bool) {
	if !s.hold(conn) {
		return nil, false
	}
	defer s.release(conn)
	b := make([]byte, 1)
	if conn.SetReadDeadline(time.Now().Add(firstByteWithin)) != nil {
		return nil, false
	}
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil, false
	}
	return b, conn.SetReadDeadline(time.Time{}) == nil
}

func (s *splitter) hold(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.undecided[conn] = struct{}{}
	return true
}

func (s *splitter) release(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.undecided, conn)
}

// end stops listening; the first reason is kept.
func (s *splitter) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed, s.why = true, why
	close(s.done)
	_ = s.l.Close()
	for conn := range s.undecided {
		_ = conn.Close()
	}
}

func (s *splitter) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// half is one of the two listeners.
type half struct {
	s     *splitter
	conns chan net.Conn
}

func (h *half) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.s.done:
		return nil, h.s.reason()
	}
}

func (h *half) Close() error {
	h.s.end(net.ErrClosed)
	h.s.work.Wait()
	return nil
}

func (h *half) Addr() net.Addr { return h.s.l.Addr() }
