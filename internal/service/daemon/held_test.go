package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/speakers"
	"github.com/floodmark/floodmark/journal"
)

// A due is a context with a deadline that does not end it, so that what depends on the
// deadline does not depend on how fast a machine is.
type due struct {
	context.Context
	until time.Time
	asked func() // called when the deadline is read
}

func (d due) Deadline() (time.Time, bool) {
	d.asked()
	return d.until, true
}

// never is when no test runs any more.
var never = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// A gateway's call waits for a person while the owner watches; a hook's call does not wait.
func TestAGatewayWaitsForAPerson(t *testing.T) {
	r := start(t, t.TempDir())
	poison(t, r.hooks(t), "s1")
	c, err := client.Dial(r.paths.HookSocket, client.Options{Timeout: longest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	event := func(gateway bool) hook.Event {
		ev := run("s1")
		ev.Agent, ev.Gateway = "openclaw", gateway
		return ev
	}
	ask := func(gateway bool) hook.Reply {
		reply, err := c.Handle(t.Context(), event(gateway))
		if err != nil {
			t.Error(err)
		}
		return reply
	}
	if got := ask(true); got.Decision.Verdict != floodmark.Confirm {
		t.Errorf("nobody watches: %v", got.Decision.Verdict)
	}
	watcher, end := r.d.hub.Watch("")
	defer end()
	if got := ask(false); got.Decision.Verdict != floodmark.Confirm {
		t.Errorf("an agent: %v", got.Decision.Verdict)
	}
	late := due{t.Context(), time.Unix(0, 0), func() {}}
	got, err := r.d.speakers.Handle(speakers.With(late, speakers.Speaker{Local: true}), "", event(true))
	if err != nil || got.Decision.Verdict != floodmark.Confirm || got.Ticket == "" {
		t.Fatalf("nobody answers: %+v, %v", got, err)
	}
	for len(watcher.C) > 0 {
		<-watcher.C
	}
	answered := make(chan hook.Reply, 1)
	go func() { answered <- ask(true) }()
	select { // it is judged, and waits
	case <-watcher.C:
	case early := <-answered:
		t.Fatalf("it did not wait: %+v", early)
	}
	if err := r.d.inWindow(t.Context(), journal.Session{ID: "s1"}, got.Ticket, floodmark.Allow, "test"); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got.Decision.Verdict != floodmark.Allow {
		t.Errorf("approved: %+v", got.Decision)
	}
}
