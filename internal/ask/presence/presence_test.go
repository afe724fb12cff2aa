package presence_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/ask/presence"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/policy"
)

func with(there bool, wait time.Duration) presence.Presence {
	return presence.Presence{
		There: []func() bool{func() bool { return false }, func() bool { return there }},
		Questions: func(context.Context, journal.Session, floodmark.TicketID) (floodmark.Verdict, error) {
			return floodmark.Allow, nil
		},
		Settings: func(string) policy.Settings { return policy.Settings{Wait: wait} },
	}
}

// Without a person, nothing waits.
func TestNobodyIsThere(t *testing.T) {
	s := journal.Session{ID: "s"}
	if v, err := with(false, time.Minute).Await(t.Context(), s, "t1"); !errors.Is(err, presence.ErrNobody) || v != floodmark.Restrict {
		t.Errorf("nobody is there: %v, %v", v, err)
	}
	if v, err := with(true, time.Minute).Await(t.Context(), s, "t1"); err != nil || v != floodmark.Allow {
		t.Errorf("somebody is there: %v, %v", v, err)
	}
	if v, err := (presence.Presence{}).Await(t.Context(), s, "t1"); err == nil || v != floodmark.Restrict {
		t.Errorf("the zero presence: %v, %v", v, err)
	}
}

// Only a call waits, as long as the agent can and the policy allows.
func TestPatience(t *testing.T) {
	call := hook.Event{Point: hook.BeforeToolCall}
	for name, c := range map[string]struct {
		p      presence.Presence
		ev     hook.Event
		person time.Duration
		want   time.Duration
		shows  bool // the agent shows its question
	}{
		"the policy":     {with(true, 10*time.Minute), call, 29 * time.Minute, 10 * time.Minute, false},
		"the agent":      {with(true, 10*time.Minute), call, time.Minute, time.Minute, false},
		"it cannot wait": {with(true, 10*time.Minute), call, 0, 0, false},
		"no wait":        {with(true, 0), call, time.Minute, 0, false},
		"nobody":         {with(false, 10*time.Minute), call, time.Minute, 0, false},
		"it shows it":    {with(false, 10*time.Minute), call, 29 * time.Minute, 10 * time.Minute, true},
		"a message":      {with(true, 10*time.Minute), hook.Event{Point: hook.MessageReceived}, time.Minute, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = hookframe.Serve(t.Context(), far, func(ctx context.Context, _ hookframe.Request) hookframe.Response {
					if got := c.p.Patience(ctx, c.ev); got != c.want {
						t.Errorf("%s: %v, want %v", name, got, c.want)
					}
					if _, err := c.p.Await(ctx, journal.Session{ID: "s"}, "t1"); c.shows && err != nil {
						t.Errorf("%s: %v", name, err)
					}
					return hookframe.Response{}
				})
			}()
			_, err := hookframe.Ask(near, hookframe.Request{V: hookframe.Version, Agent: "pi", Event: "e", Raw: []byte(`{}`), DeadlineMS: 10_000, PersonMS: c.person.Milliseconds(), Shows: c.shows})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_ = near.Close()
			<-done
		})
	}
	if got := with(true, time.Minute).Patience(t.Context(), call); got != 0 {
		t.Errorf("over the network: %v", got)
	}
}
