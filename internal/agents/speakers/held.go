package speakers

import (
	"context"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// leaveToAnswer is the part of a gateway's time that is kept for the reply if no answer comes.
const leaveToAnswer = time.Second

// held holds a gateway's call while a person is asked, as hooks do, and judges it again after the
// answer. A call without a deadline is not held.
func (h *Door) held(ctx context.Context, tenant string, ev hook.Event, reply hook.Reply) hook.Reply {
	until, ok := ctx.Deadline()
	if !ok || !ev.Gateway || ev.Point != hook.BeforeToolCall || reply.Ticket == "" || reply.Decision.Verdict != floodmark.Confirm {
		return reply
	}
	waiting, cancel := context.WithDeadline(ctx, until.Add(-leaveToAnswer))
	defer cancel()
	if _, err := h.opts.Await(waiting, journal.Session{Tenant: tenant, ID: ev.Session}, reply.Ticket); err != nil {
		return reply // no answer in time: the question stays open
	}
	if again, err := h.opts.Hooks.Handle(ctx, tenant, ev); err == nil {
		return again
	}
	return reply
}
