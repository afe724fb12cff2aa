package hookframe_test

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/hookframe"
)

// crowd accepts from a bounded listener for processes in turn.
func crowd(t *testing.T, limit int, processes ...int) (clients []net.Conn) {
	t.Helper()
	raw := listen(t)
	next := 0
	l := hookframe.Bound(raw, limit, func(net.Conn) int { next++; return processes[next-1] })
	for range processes {
		clients = append(clients, dial(t, raw))
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	return clients
}

// isOpen listens for a moment, isClosed until it hears.
func isOpen(c net.Conn) bool   { return silent(c, 20*time.Millisecond) }
func isClosed(c net.Conn) bool { return !silent(c, 20*time.Second) }

func silent(c net.Conn, wait time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(wait))
	_, err := c.Read(make([]byte, 1))
	return os.IsTimeout(err)
}

// Whoever has the most gives way, its oldest first; among equals the oldest.
func TestTheGreediestGivesWay(t *testing.T) {
	for name, c := range map[string]struct {
		limit     int
		processes []int
		closed    []int
	}{
		"at the limit":       {3, []int{1, 2, 2}, nil},
		"one beyond":         {3, []int{1, 2, 2, 3}, []int{1}},
		"two beyond":         {3, []int{1, 2, 2, 3, 4}, []int{0, 1}},
		"all the same":       {3, []int{7, 7, 7, 7}, []int{0}},
		"the newcomer stays": {2, []int{1, 1, 1, 1}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			gone := map[int]bool{}
			for _, i := range c.closed {
				gone[i] = true
			}
			for i, client := range crowd(t, c.limit, c.processes...) {
				if gone[i] && !isClosed(client) || !gone[i] && !isOpen(client) {
					t.Errorf("connection %d: closed %v", i, !gone[i])
				}
			}
		})
	}
}

// What was closed by itself makes room.
func TestClosingMakesRoom(t *testing.T) {
	raw := listen(t)
	l := hookframe.Bound(raw, 2, func(net.Conn) int { return 1 })
	var clients []net.Conn
	for i := range 3 {
		clients = append(clients, dial(t, raw))
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			_ = conn.Close()
		}
	}
	if !isOpen(clients[0]) || !isClosed(clients[1]) || !isOpen(clients[2]) {
		t.Error("the first had to go, though there was room")
	}
}
