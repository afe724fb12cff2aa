package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// A gateway's call waits for a person while somebody watches, and nobody else's
// does.
func TestAGatewayWaitsForAPerson(t *testing.T) {
	r := start(t, t.TempDir())
	c := r.hooks(t)
	poison(t, c, "s1")
	try := func(gateway bool, within time.Duration) (hook.Reply, time.Duration, error) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		ev := run("s1")
		ev.Agent, ev.Gateway = "openclaw", gateway
		began := time.Now()
		reply, err := c.Handle(ctx, ev)
		return reply, time.Since(began), err
	}
	ask := func(gateway bool, within time.Duration) (hook.Reply, time.Duration) {
		t.Helper()
		reply, took, err := try(gateway, within)
		if err != nil {
			t.Error(err)
		}
		return reply, took
	}
	if got, took := ask(true, 20*time.Second); got.Decision.Verdict != floodmark.Confirm || took > 10*time.Second {
		t.Errorf("nobody watches: %v after %v", got.Decision.Verdict, took)
	}
	watching, stop := context.WithCancel(t.Context())
	defer stop()
	o := r.owner(t).Owner()
	stream, err := o.Watch(watching, &wire.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for !r.d.hub.Watched() {
		time.Sleep(5 * time.Millisecond)
	}
	if got, took := ask(false, 20*time.Second); got.Decision.Verdict != floodmark.Confirm || took > 10*time.Second {
		t.Errorf("an agent: %v after %v", got.Decision.Verdict, took)
	}
	// What is left of its time to answer is a second: a busy machine may need more.
	var got hook.Reply
	var took time.Duration
	err = errors.New("not tried")
	for n := 0; n < 20 && err != nil; n++ {
		got, took, err = try(true, 2*time.Second)
	}
	if err != nil || got.Decision.Verdict != floodmark.Confirm || got.Ticket == "" || took < 500*time.Millisecond {
		t.Fatalf("nobody answers: %v after %v, %v", got.Decision.Verdict, took, err)
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		if err := r.d.inWindow(t.Context(), journal.Session{ID: "s1"}, got.Ticket, floodmark.Allow, "test"); err != nil {
			t.Error(err)
		}
	}()
	if got, _ := ask(true, 30*time.Second); got.Decision.Verdict != floodmark.Allow {
		t.Errorf("approved: %+v", got.Decision)
	}
}
