package teams

import (
	"context"
	"time"

	"github.com/floodmark/floodmark/hook"
)

// fetchWait bounds how long an agent waits while its project's repository is fetched.
const fetchWait = 4 * time.Second

// Hooks handle what agents report.
type Hooks interface {
	Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)
}

// A Door fetches the default branch of a team's repository before an event in it is judged, if the
// checkout is at a commit that is not known to be the team's. If the fetch does not finish in time,
// the commit is judged as a stranger's.
type Door struct {
	Hooks Hooks
	Store *Store
	// Project returns the folder that a session works in.
	Project func(ctx context.Context, tenant string, ev hook.Event) string
	// Behind reports whether a path is in a checkout of a team that is at an unknown commit, and
	// returns the root of that checkout.
	Behind func(path string) (root string, behind bool)
}

// Handle fetches if needed, and passes the event to Hooks.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	switch ev.Point {
	case hook.SessionStart, hook.MessageReceived, hook.BeforeToolCall:
		if !d.Store.Any() {
			break
		}
		if root, behind := d.Behind(d.Project(ctx, tenant, ev)); behind {
			fetch, cancel := context.WithTimeout(ctx, fetchWait)
			_ = d.Store.Refresh(fetch, root) // on an error, the commit remains unknown
			cancel()
		}
	default:
	}
	return d.Hooks.Handle(ctx, tenant, ev)
}
