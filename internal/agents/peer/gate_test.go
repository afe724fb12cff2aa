package peer

import "testing"

// In the table a process that may not be dumped is root's, so the user comes from the socket.
func TestTheSocketSaysWhichUserItIs(t *testing.T) {
	g := &Gate{Guarded: NewGuarded(System{}), Users: []int{0, 1000}}
	c := g.place(Peer{Info: Info{Process: Process{PID: 7}, UID: 0}}, 1000)
	if !c.Owner() || c.UID != 1000 {
		t.Errorf("user %d, %q", c.UID, c.Why)
	}
	if c = g.place(Peer{}, 1001); c.Owner() || c.UID != 1001 {
		t.Errorf("user %d, %q", c.UID, c.Why)
	}
}
