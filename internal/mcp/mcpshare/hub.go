// Package mcpshare lets several clients use one MCP server: one process or one HTTP session,
// initialized once, with a connection for each client. Ids, progress tokens, subscriptions and
// tasks of one client are never another's. A message that the server sends without a call goes to
// the client it belongs to if that is certain, and otherwise to none. The package makes no
// decisions and sets no labels: one client's words may come back to another through the server, and
// the relay in front of it has to label them.
//
// Folders (roots) are not offered to the server, because it would show one client's folders to all.
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

// Limits of one server. They equal the limits for a server that one client has for itself.
const (
	// MaxOpen bounds the calls of one client that are open at once, and the calls of the server.
	MaxOpen = 1024
	// MaxHeld bounds the subscriptions of a client, and likewise its tasks.
	MaxHeld = 1024
	// maxQueue bounds the messages that wait for a client that does not read. maxServerQueue bounds
	// the messages that wait for the server; it is larger, because all clients write to it.
	maxQueue       = 256
	maxServerQueue = 2048
)

// maxDoublings is how often the pause before a new start doubles.
const maxDoublings = 6

// Options are what a Hub is made of. Zero values mean the defaults.
type Options struct {
	// Name is the owner's name for the server. Version is our version, which the server gets in
	// initialize.
	Name, Version string
	// Dial connects to the server, again after each end. The Hub closes the connection.
	Dial func(context.Context) (mcp.Connection, error)
	// StartLimit is how long a start may take. Backoff is the pause after the second end in a row;
	// the pause doubles with every further end, up to 64 times Backoff.
	StartLimit, Backoff time.Duration
	// Ghost is how long we assume that the server is still working on a cancelled call.
	Ghost time.Duration
	// Now returns the time.
	Now func() time.Time
	// Report, unless nil, gets a line for each dropped message and each end of the server.
	Report func(line string)
}

// A Hub is one server, through all its restarts. It is safe for concurrent use.
type Hub struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	// mu guards all below, and the fields of lines and ports that say so. It is never held while
	// calling out.
	mu     sync.Mutex
	closed bool
	line   *line // nil while there is none
	// settled is closed when the start under way has succeeded or failed.
	settled chan struct{}
	// ends counts ends in a row; retry is the earliest time of the next start.
	ends  int
	retry time.Time
	why   error // why the last line ended, or the last start failed
}

// New returns a Hub whose server is not started yet. The caller closes the Hub.
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

// Join returns a new client's own connection, starting the server if it does not run and the pause
// since its last end is over. The connection ends with the server.
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

// start begins a start unless the server runs or starts already, and returns a channel that is
// closed when the start has succeeded or failed.
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

// ended removes a line, or a start that failed. Every waiting client gets the error.
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

// Clients returns the number of clients.
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
