package client

import (
	"context"
	"net"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/wire"
)

// A node of a fleet may be gone while others answer, so an event that was not judged is sent again,
// marked as a retry. Even if the first try was judged after all, there is only one decision. A
// local socket belongs to one monitor, so it is asked only once.
const (
	// MaxTries is how many times an event is sent to a fleet at most.
	MaxTries = 3
	// TryWithin is how long after the first try the last one may begin.
	TryWithin = 2 * time.Second

	connectWithin = time.Second // to one address, so that a dead one leaves time for the next
)

// A way is the connection to one address of a fleet.
type way struct {
	hooks wire.HookServiceClient
}

// pause returns how long to wait before a try. Another address is tried almost at once.
func (c *Client) pause(try int) time.Duration {
	switch {
	case try == 0:
		return 0
	case try < len(c.ways):
		return 10 * time.Millisecond
	}
	return time.Duration(try) * 200 * time.Millisecond
}

// ask sends an event until it is judged, or until the tries or their time are used up.
func (c *Client) ask(ctx context.Context, ev hook.Event) (reply hook.Reply, err error) {
	began := time.Now()
	first := c.turn.Load()
	for try := range c.tries {
		if try > 0 {
			if time.Since(began)+c.pause(try) > TryWithin || !wait(ctx, c.pause(try)) {
				break
			}
			ev.Retry = true
		}
		turn := first + int64(try)
		reply, err = c.askOne(ctx, c.ways[int(turn)%len(c.ways)], ev)
		if err == nil && !unjudged(reply) {
			if try > 0 {
				c.turn.Store(turn % int64(len(c.ways))) // begin with the address that answered
			}
			return reply, nil
		}
		if err != nil && !another(ctx, err) {
			break
		}
	}
	return reply, err
}

func (c *Client) askOne(ctx context.Context, w way, ev hook.Event) (hook.Reply, error) {
	answer, err := w.hooks.Handle(ctx, wire.FromEvent(ev))
	if err != nil {
		return hook.Reply{}, err
	}
	return answer.Hook()
}

// another reports whether another try could help. It could not if the caller is not admitted or has
// no time left.
func another(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	switch connect.CodeOf(err) {
	case connect.CodeCanceled, // not canceled by us: the connection is gone
		connect.CodeUnavailable, connect.CodeUnknown, connect.CodeInternal, connect.CodeAborted, connect.CodeResourceExhausted:
		return true
	default:
		return false
	}
}

// unjudged reports whether a reply refuses because nothing could be judged.
func unjudged(r hook.Reply) bool {
	return r.Decision.Verdict == floodmark.Restrict && len(r.Decision.Reasons) > 0 && r.Decision.Reasons[0].Code == floodmark.Unjudged
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// dialer returns a function that connects to one address within connectWithin.
func dialer() func(context.Context, string, string) (net.Conn, error) {
	return (&net.Dialer{Timeout: connectWithin, KeepAlive: 15 * time.Second}).DialContext
}
