package fleetlink

import (
	"errors"
	"fmt"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// All sessions that are still to be uploaded are counted, however many are asked about at once, and
// no others.
func TestBehindCountsAll(t *testing.T) {
	f, j := newFakeFleet(t), journal.NewMemory()
	const n, there = 2*headsAtOnce + 5, 3
	for i := range n {
		write(t, j, floodmark.SessionID(fmt.Sprint("s", i)), 1, "x")
		if i+1 == there {
			once(t, newLink(t, f, j, func(*Options) {}))
		}
	}
	f.set(func() { f.fail = connect.NewError(connect.CodeUnavailable, errors.New("busy")) })
	l := newLink(t, f, j, func(*Options) {})
	if err := l.Once(t.Context()); err == nil || l.State().Behind != n-there || f.seen.GetBehind() != n-there {
		t.Errorf("%v, %d sessions behind, the fleet heard of %d, want %d", err, l.State().Behind, f.seen.GetBehind(), n-there)
	}
	f.set(func() { f.away = true }) // it does not even answer what it has
	l = newLink(t, f, j, func(*Options) {})
	if err := l.Once(t.Context()); err == nil || l.State().Behind != n {
		t.Errorf("%v, %d sessions behind, want %d", err, l.State().Behind, n)
	}
}
