package daemon

import (
	"context"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// leaveToAnswer is what is left of a gateway's time when nobody has answered.
const leaveToAnswer = time.Second

// held keeps a gateway's call back while a person is asked, as hooks do, and
// judges it once more when that person has answered. A call without a deadline
// is not kept.
func (h heard) held(ctx context.Context, tenant string, ev hook.Event, reply hook.Reply) hook.Reply {
	until, ok := ctx.Deadline()
	if !ok || !ev.Gateway || ev.Point != hook.BeforeToolCall || reply.Ticket == "" || reply.Decision.Verdict != floodmark.Confirm {
		return reply
	}
	waiting, cancel := context.WithDeadline(ctx, until.Add(-leaveToAnswer))
	defer cancel()
	if _, err := h.d.presence().Await(waiting, journal.Session{Tenant: tenant, ID: ev.Session}, reply.Ticket); err != nil {
		return reply // nobody answered in time: the question stands
	}
	if again, err := h.watchedHooks.Handle(ctx, tenant, ev); err == nil {
		return again
	}
	return reply
}
