package hookframe

import (
	"net"
	"sync"
)

// MaxConnections bounds the open connections of one local socket.
const MaxConnections = 1024

// Bound limits the open connections of l. A connection above the limit does not wait: instead, the
// oldest connection of the process that has the most is closed, and the hook there takes that for a
// denial. So a process that holds many connections open keeps no other process from an answer.
// whose returns the process at the other end.
func Bound(l net.Listener, limit int, whose func(net.Conn) int) net.Listener {
	return &bounded{Listener: l, limit: limit, whose: whose}
}

type bounded struct {
	net.Listener
	limit int
	whose func(net.Conn) int

	mu   sync.Mutex // guards open
	open []*boundConn
}

// A boundConn is one of the open connections. Closing it removes it.
type boundConn struct {
	net.Conn
	among *bounded
	whose int
}

// NetConn returns the underlying connection.
func (c *boundConn) NetConn() net.Conn { return c.Conn }

// Close closes the connection and makes room.
func (c *boundConn) Close() error {
	c.among.leave(c)
	return c.Conn.Close()
}

// Accept implements [net.Listener].
func (b *bounded) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &boundConn{Conn: conn, among: b, whose: b.whose(conn)}
	if old := b.enter(c); old != nil {
		_ = old.Conn.Close() // its server sees the error
	}
	return c, nil
}

// enter adds c and returns the connection to close for it; nil if there is room.
func (b *bounded) enter(c *boundConn) (old *boundConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= b.limit {
		at := greediest(b.open)
		old = b.open[at]
		b.open = append(b.open[:at], b.open[at+1:]...)
	}
	b.open = append(b.open, c)
	return old
}

func (b *bounded) leave(c *boundConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, o := range b.open {
		if o == c {
			b.open = append(b.open[:i], b.open[i+1:]...)
			return
		}
	}
}

// greediest returns the index of the connection to close: the oldest one of the process with the
// most connections. If several processes have the most, it is the oldest of all of theirs.
func greediest(open []*boundConn) int {
	count := map[int]int{}
	for _, c := range open {
		count[c.whose]++
	}
	at := 0
	for i, c := range open {
		if count[c.whose] > count[open[at].whose] {
			at = i
		}
	}
	return at
}
