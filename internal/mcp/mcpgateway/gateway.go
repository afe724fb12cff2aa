// Package mcpgateway stands between one MCP client and one MCP server and passes their messages on.
// It asks the monitor before a call reaches the server and reports the result before the client
// sees it. It asks about unknown methods, too. It changes nothing else: fields and versions it does
// not know pass as they are.
//
// It judges nothing itself. Every error on the way to an answer is a refusal: a call is forwarded
// only if the answer was exactly «allow», and a result that the monitor has not taken in is kept
// back.
package mcpgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/hook"
)

// The limits on what one side may make the other side, or us, store.
const (
	// MaxOpen bounds the requests of one side that are not answered yet.
	MaxOpen = 1024
	// MaxTools bounds the tools, prompts or templates in one answer, and those
	// that are remembered of a server.
	MaxTools = 4096
	// MaxName bounds the name of a tool, as hooks do.
	MaxName = hook.MaxNameBytes
	// MaxText bounds how much of one answer is searched for values. An answer with more text gets
	// the strictest label.
	MaxText = 4 << 20
)

// How long things may take, unless [Options] say otherwise.
const (
	// judgeTime bounds one answer of the monitor, without waiting for people.
	judgeTime = 15 * time.Second
	// lastWords is how long the server has to answer open requests after the client has gone.
	lastWords = 2 * time.Second
	// retryEvery is how often a monitor that did not answer is asked again.
	retryEvery = 3 * time.Second
	// windowTime is how long a question may be open in the client's own window. It
	// is less than questions live by default.
	windowTime = 100 * time.Second
)

// A Judge decides what an agent may do. After an error nothing is allowed, whatever the reply says.
type Judge interface {
	Handle(ctx context.Context, ev hook.Event) (hook.Reply, error)
}

// Options describe one server as the owner set it up.
type Options struct {
	// Server is the owner's name for the server. It is required.
	Server string
	// Identity is the command line or the URL behind that name.
	Identity string
	// Session is the client's session, which all relays of one client share. It is required.
	Session *Session
	// Shared says that other clients use the same server. What the server says then gets the marks
	// of all clients that wrote to it.
	Shared bool
	// Restarts says that the next call restarts a server that has ended.
	Restarts bool
	// Pins has the definitions the owner saw. If nil, every definition is held.
	Pins Pins
	// Note, unless nil, gets lines for a person who looks for a fault. It must be safe for
	// concurrent use.
	Note func(line string)

	// grace is lastWords, retry retryEvery and open windowTime unless a test sets less.
	grace, retry, open time.Duration
}

func (o *Options) check() error {
	switch {
	case o.Server == "" || len(o.Server) > MaxName:
		return fmt.Errorf("a server needs a name of at most %d bytes", MaxName)
	case o.Session == nil:
		return errors.New("a relay needs a session")
	}
	if o.Pins == nil {
		o.Pins = noPins{}
	}
	o.grace, o.retry, o.open = cmp.Or(o.grace, lastWords), cmp.Or(o.retry, retryEvery), cmp.Or(o.open, windowTime)
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return nil
}

// Run passes messages on between a client and a server until one of them ends
// or ctx does. It closes both and waits for everything it began. The error says
// why it ended; it is nil if the client left.
func Run(ctx context.Context, client, server mcp.Connection, o Options) error {
	if err := o.check(); err != nil {
		return errors.Join(err, client.Close(), server.Close())
	}
	return newRelay(client, server, o).run(ctx)
}
