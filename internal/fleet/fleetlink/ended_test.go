package fleetlink

import (
	"context"
	"testing"
	"time"
)

// A contact that we ended ourselves says nothing about the fleet. A machine that was revoked before
// still is.
func TestEndedContactSaysNothing(t *testing.T) {
	l, err := New(Options{Membership: Membership{URL: "https://127.0.0.1:1"}, Have: func() uint64 { return 0 }, Now: func() time.Time { return time.Time{} }})
	if err != nil {
		t.Fatal(err)
	}
	l.state = State{Ended: true, Trouble: "revoked"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Once(ctx); err == nil || !l.State().Ended {
		t.Errorf("%v, %+v", err, l.State())
	}
}
