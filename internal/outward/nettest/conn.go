package nettest

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxOnTheWay is how many bytes may be written before they are read, like the buffer of a kernel.
// Without it both ends of a TLS handshake could wait for each other.
const maxOnTheWay = 64 << 10

// A stream carries bytes from one end of a connection to the other.
type stream struct {
	mu      sync.Mutex // guards what is below
	data    []byte
	ended   bool          // nothing is written any more
	gone    bool          // nothing is read any more
	changed chan struct{} // closed at each change
}

func newStream() *stream { return &stream{changed: make(chan struct{})} }

// change changes the stream if that is possible. Otherwise it returns a channel that is closed at
// the next change.
func (s *stream) change(how func() bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !how() {
		return s.changed
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

func (s *stream) end()   { s.change(func() bool { s.ended = true; return true }) }
func (s *stream) leave() { s.change(func() bool { s.gone, s.data = true, nil; return true }) }

// read returns the bytes that are there, and waits if there are none.
func (s *stream) read(b []byte, late *deadline) (n int, err error) {
	for {
		wait := s.change(func() bool {
			switch {
			case s.gone:
				err = net.ErrClosed
			case late.passed():
				err = os.ErrDeadlineExceeded
			case len(s.data) > 0 || len(b) == 0:
				n = copy(b, s.data)
				s.data = s.data[n:]
			case s.ended:
				err = io.EOF
			default:
				return false
			}
			return true
		})
		if wait == nil {
			return n, err
		}
		late.wait(wait)
	}
}

// write returns when all bytes are in the buffer, so it may wait for the reader.
func (s *stream) write(b []byte, late *deadline) (n int, err error) {
	for {
		wait := s.change(func() bool {
			switch {
			case s.ended:
				err = net.ErrClosed
			case s.gone:
				err = syscall.EPIPE
			case late.passed():
				err = os.ErrDeadlineExceeded
			default:
				some := min(len(b)-n, maxOnTheWay-len(s.data))
				s.data = append(s.data, b[n:n+some]...)
				n += some
				return some > 0 || n == len(b)
			}
			return true
		})
		if err != nil || n == len(b) {
			return n, err
		}
		if wait != nil {
			late.wait(wait)
		}
	}
}

// A deadline is when reading or writing ends; the zero time means never.
type deadline struct {
	mu    sync.Mutex // guards what is below
	at    time.Time
	moved chan struct{} // closed when the deadline is set again
}

func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	if d.moved != nil {
		close(d.moved)
	}
	d.moved = make(chan struct{})
}

func (d *deadline) passed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.at.IsZero() && !time.Now().Before(d.at)
}

// wait waits for a change, until the deadline passes or is set again.
func (d *deadline) wait(change <-chan struct{}) {
	d.mu.Lock()
	at, moved := d.at, d.moved
	d.mu.Unlock()
	var late <-chan time.Time
	if !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-change:
	case <-moved:
	case <-late:
	}
}

// A conn is one end of a connection.
type conn struct {
	in, out           *stream
	near, far         net.Addr
	readLate, outLate deadline
}

// connect returns both ends of a connection.
func connect(dialler, listener net.Addr) (here, there *conn) {
	one, other := newStream(), newStream()
	here = &conn{in: one, out: other, near: dialler, far: listener}
	there = &conn{in: other, out: one, near: listener, far: dialler}
	for _, c := range []*conn{here, there} {
		c.readLate.set(time.Time{})
		c.outLate.set(time.Time{})
	}
	return here, there
}

// wrong returns an error in the form of a socket's. The end of a stream stays io.EOF.
func (c *conn) wrong(op string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // as readers compare it
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.near, Addr: c.far, Err: err}
}

// Read implements [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.in.read(b, &c.readLate)
	return n, c.wrong("read", err)
}

// Write implements [net.Conn].
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.out.write(b, &c.outLate)
	return n, c.wrong("write", err)
}

// Close implements [net.Conn]. Bytes that were written can still be read at the other end.
func (c *conn) Close() error {
	c.in.leave()
	c.out.end()
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return c.near }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return c.far }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(at time.Time) error {
	c.readLate.set(at)
	c.outLate.set(at)
	return nil
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(at time.Time) error {
	c.readLate.set(at)
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(at time.Time) error {
	c.outLate.set(at)
	return nil
}
