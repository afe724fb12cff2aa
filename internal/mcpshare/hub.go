// Package mcpshare lets several clients use one MCP server: one process or one
// HTTP session, initialized once, with a connection for each client. Ids, progress
// tokens, subscriptions and tasks of one client are never another's. What the
// server says without a call reaches the client it belongs to where that is
// certain, and nobody where it is not. It judges nothing and labels nothing: that
// what one client wrote may come back to another is for whoever stands before it.
//
// Folders (roots) are not offered to the server: those of one client would be everybody's.
package mcpshare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of one server. They are those of a client that has it for itself.
const (
	// MaxOpen bounds calls that are open at once: of a client, and of the server.
	MaxOpen = 1024
	// MaxHeld bounds subscriptions, and tasks, that are remembered of a client.
	MaxHeld = 1024
	// maxQueue bounds messages that wait for a client that does not read, and
	// maxServerQueue those for a server that all clients write to.
	maxQueue       = 256
	maxServerQueue = 2048
)

// maxDoublings is how often the pause before a new start doubles.
const maxDoublings = 6

// Options are what a Hub is made of. Zero values are replaced by usual ones.
type Options struct {
	// Name is the owner's name for the server, Version what it is told of us.
	Name, Version string
	// Dial reaches the server, anew after each end. The Hub closes the connection.
	Dial func(context.Context) (mcp.Connection, error)
	// StartLimit is how long a start may take, Backoff the shortest pause after
	// the second end in a row; it doubles up to 64 times that.
	StartLimit, Backoff time.Duration
	// Ghost is how long a call that was taken back counts as one the server may
	// still be working on.
	Ghost time.Duration
	// Now tells the time.
	Now func() time.Time
	// Report hears what was left out and why the server ended; nil for nobody.
	Report func(line string)
}

// A Hub is one server, through all its lives. It is safe for concurrent use.
type Hub struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	// mu guards all below, and what lines and ports say it does. It is never held
	// while anybody is called.
	mu     sync.Mutex
	closed bool
	line   *line // nil while there is none
	// settled is closed when the start under way has ended either way.
	settled chan struct{}
	// ends counts ends in a row; retry is when the next start may be.
	ends  int
	retry time.Time
	why   error // of the last end
}

// New returns a server that is not started yet. Whoever makes one closes it.
func New(o Options) *Hub {
	o.StartLimit = cmp.Or(o.StartLimit, 5*time.Minute)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	o.Ghost = cmp.Or(o.Ghost, time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(string) {}
	}
	h := &Hub{opts: o}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

var errClosed = errors.New("the gateway is being stopped")

// Join returns a connection of its own for one more client, starting the server
// where it does not run and the pause since its last end is over. It ends with
// the server.
func (h *Hub) Join(ctx context.Context) (mcp.Connection, error) {
	settled, err := h.start()
	if err != nil {
		return nil, err
	}
	select {
	case <-settled:
	case <-ctx.Done():
		return nil, fmt.Errorf("the server that clients share is still starting: %w", ctx.Err())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.line == nil || !h.line.alive {
		if h.closed {
			return nil, errClosed
		}
		return nil, fmt.Errorf("the server that clients share cannot be started: %w", h.why)
	}
	return h.line.join(), nil
}

// start begins a start unless the server runs or starts already, and returns what
// is closed when it is decided.
func (h *Hub) start() (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errClosed
	case h.settled != nil:
		return h.settled, nil
	case h.line != nil:
		done := make(chan struct{})
		close(done)
		return done, nil
	}
	if pause := h.retry.Sub(h.opts.Now()); pause > 0 {
		return nil, fmt.Errorf("the server that clients share stopped (%w); it can be started again in %v", h.why, pause.Round(time.Millisecond))
	}
	settled := make(chan struct{})
	h.settled = settled
	h.work.Go(h.run)
	return settled, nil
}

// ended writes off a line, or a start that came to none. Every client that waits
// learns of it.
func (h *Hub) ended(l *line, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ranLong := false
	if l != nil {
		ranLong = l.alive && h.opts.Now().Sub(l.since) >= h.opts.Backoff<<maxDoublings
		l.alive = false
		for p := range l.ports {
			p.shut(fmt.Errorf("the server that clients share stopped: %w", why))
		}
	}
	if h.settled != nil {
		close(h.settled)
		h.settled = nil
	}
	h.line, h.why = nil, why
	if ranLong {
		h.ends = 0
	}
	h.ends++
	h.retry = h.opts.Now()
	if h.ends > 1 {
		h.retry = h.retry.Add(h.opts.Backoff << min(h.ends-2, maxDoublings))
	}
}

// Clients returns how many use it now.
func (h *Hub) Clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.line == nil {
		return 0
	}
	return len(h.line.ports)
}

// Close ends the server and waits for it.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
	return nil
}
