package teams

import (
	"context"
	"time"

	"github.com/floodmark/floodmark/hook"
)

// fetchWait bounds how long an agent waits for a look at where its project came from.
const fetchWait = 4 * time.Second

// Hooks take what agents report.
type Hooks interface {
	Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)
}

// A Door looks where a team's repository came from before what happens in it is judged,
// if the checkout is at something that the team was not known to have. What cannot be
// fetched in time stays a stranger's.
type Door struct {
	Hooks Hooks
	Store *Store
	// Project is the folder a session works in.
	Project func(ctx context.Context, tenant string, ev hook.Event) string
	// Behind reports a team's checkout around a path that is at something unknown.
	Behind func(path string) (root string, behind bool)
}

// Handle passes an event on.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	switch ev.Point {
	case hook.SessionStart, hook.MessageReceived, hook.BeforeToolCall:
		if !d.Store.Any() {
			break
		}
		if root, behind := d.Behind(d.Project(ctx, tenant, ev)); behind {
			fetch, cancel := context.WithTimeout(ctx, fetchWait)
			_ = d.Store.Refresh(fetch, root) // then it is judged as what it was
			cancel()
		}
	default:
	}
	return d.Hooks.Handle(ctx, tenant, ev)
}
