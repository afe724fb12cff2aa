package daemon

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

// vouches reports whether an event is an owner's command that needs no code.
// Whoever can send events could send it, so the owner has to say it elsewhere.
func vouches(ev hook.Event) bool {
	if ev.Point != hook.MessageReceived || !ev.Origin.IsOwner {
		return false
	}
	cmd, err := approval.ParseCommand(ev.Text)
	return err == nil && (cmd.Verb == approval.Endorse || cmd.Verb == approval.Withdraw)
}

// heard are the monitor's hooks, for events from doors that prove which agent
// speaks and not which person.
type heard struct {
	watchedHooks
	d *Daemon
}

// Handle judges one event.
func (h heard) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	if vouches(ev) {
		h.d.incident(ctx, "not-permitted", fmt.Sprintf("an event of session %.100q tried to vouch for content", ev.Session))
		yes := floodmark.Decision{Verdict: floodmark.Allow}
		return hook.Reply{Decision: yes, Consumed: true, Notice: "Vouch for content at your own terminal: «floodmark endorse», «floodmark withdraw»."}, nil
	}
	return h.watchedHooks.Handle(ctx, tenant, ev)
}
