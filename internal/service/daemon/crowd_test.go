package daemon

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// An attacker holds every connection there may be, each with a frame begun or no bytes sent. The
// next hook is answered all the same.
func TestHeldConnectionsStallNobody(t *testing.T) {
	r := start(t, t.TempDir())
	connect := func() net.Conn {
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", r.paths.HookSocket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	var first net.Conn
	for i := range hookframe.MaxConnections {
		conn := connect()
		if i == 0 {
			first = conn
		}
		if i%2 == 0 {
			if _, err := conn.Write([]byte{0, 0, 1, 0, '{'}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		resp, err := hookframe.Ask(connect(), hookframe.Request{
			V: hookframe.Version, Agent: "codex", Event: "SessionStart", DeadlineMS: hookframe.MaxWait.Milliseconds(),
			Raw: []byte(`{"session_id":"s1","hook_event_name":"SessionStart","source":"startup","cwd":"/tmp"}`),
		})
		if err != nil || resp.Exit != 0 {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	// A connection with unread bytes is reset.
	if _, err := io.ReadAll(first); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the oldest was to give way: %v", err)
	}
}
