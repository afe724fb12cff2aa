package hookframe_test

import (
	"net"
	"testing"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// A couple is the two ends of an accepted connection.
type couple struct{ client, server net.Conn }

// crowd accepts connections from a bounded listener, for the given processes in turn.
func crowd(t *testing.T, limit int, processes ...int) (all []couple) {
	t.Helper()
	raw := listen(t)
	next := 0
	l := hookframe.Bound(raw, limit, func(net.Conn) int { next++; return processes[next-1] })
	for range processes {
		client := dial(t, raw)
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, couple{client, server})
	}
	return all
}

// isOpen reports whether bytes of one end arrive at the other; otherwise the connection has ended.
func (c couple) isOpen() bool {
	_, err := c.server.Write([]byte{1})
	n, _ := c.client.Read(make([]byte, 1))
	return err == nil && n == 1
}

// The process with the most loses its oldest connection; among equals the oldest is closed.
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
			for i, one := range crowd(t, c.limit, c.processes...) {
				if one.isOpen() == gone[i] {
					t.Errorf("connection %d: closed %v", i, !gone[i])
				}
			}
		})
	}
}

// A connection that is closed in the usual way makes room, too.
func TestClosingMakesRoom(t *testing.T) {
	raw := listen(t)
	l := hookframe.Bound(raw, 2, func(net.Conn) int { return 1 })
	var all []couple
	for i := range 3 {
		client := dial(t, raw)
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			_ = server.Close()
		}
		all = append(all, couple{client, server})
	}
	if !all[0].isOpen() || all[1].isOpen() || !all[2].isOpen() {
		t.Error("the first had to go, though there was room")
	}
}
