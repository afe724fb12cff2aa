// Package mcpmux makes one MCP server out of several: it gives a client one connection to several
// named servers. It routes messages, prefixes names (NAME__tool), merges lists and capabilities,
// and keeps servers apart: a server that dies, hangs or lies does not disturb the others. It makes
// no decisions about calls, starts no program and opens no network connection.
//
// A message of a server that belongs to no call goes to the newest open call, because a server on
// standard streams does not say to which call the message belongs. If two servers claim the same
// address, it is read from neither until the client writes a server's name before it.
package mcpmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/upstream"
)

// Limits of one client's connection. An agent has a handful of calls open; the numbers are far
// above that and far below what would hurt.
const (
	// MaxOpen bounds calls that are open at once, in each direction.
	MaxOpen = 1024
	// MaxAddresses bounds the resources, templates and tasks remembered per server.
	MaxAddresses = 4096
	// MaxCursor bounds the cursor of a list, in bytes.
	MaxCursor = 64 << 10
	// maxQueue bounds messages that wait for a server or a client that does not read.
	maxQueue = 256
)

// CodeStopped is the code of an error that says a server is not running. Other SDKs use the same
// code for a closed connection.
const CodeStopped = -32000

// An Upstream is one server behind the connection.
type Upstream struct {
	// Name is the owner's name for it, see [upstream.CheckName].
	Name string
	// Dial connects to it, again after each end. The Mux closes the connection.
	Dial func(context.Context) (mcp.Connection, error)
}

// Options are what a Mux is made of. Zero values mean the defaults.
type Options struct {
	// Name and Version are said to the client.
	Name, Version string
	Upstreams     []Upstream
	// StartWait is how long the client's initialize waits for servers. A server that is ready later
	// joins then. StartLimit is how long a start may take before it is given up.
	StartWait, StartLimit time.Duration
	// ListWait is how long a list waits for a server.
	ListWait time.Duration
	// Backoff is the shortest pause before a server that ended is started again;
	// it doubles with every end up to 64 times that.
	Backoff time.Duration
	// Now returns the time.
	Now func() time.Time
	// Report, unless nil, is called when a server ends or cannot be started.
	Report func(server string, err error)
}

// A Mux is the connection. Write takes the client's messages, and Read returns the messages for the
// client. The caller of New closes it.
type Mux struct {
	opts    Options
	servers []*server // in the owner's order
	out     chan jsonrpc.Message
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	once    sync.Once

	// mu guards all below and the fields of servers that say so. It is never held while calling
	// out.
	mu     sync.Mutex
	closed bool
	// hello is the client's initialize; nil before that.
	hello []byte
	// ready is set when the client said that it is initialized.
	ready bool
	// level is the logging level the client asked for, for servers that start later.
	level []byte
	last  int64
	// calls are the client's open calls by the client's ids. asked are the servers' open calls by
	// our ids.
	calls map[jsonrpc.ID]*call
	asked map[jsonrpc.ID]question
	// tokens are the progress tokens the client knows for servers' calls.
	tokens map[string]question
}

var _ mcp.Connection = (*Mux)(nil)

// New returns a connection over these servers. None is reached before the
// client's initialize.
func New(opts Options) (*Mux, error) {
	if len(opts.Upstreams) > upstream.MaxServers {
		return nil, fmt.Errorf("%d servers, at most %d", len(opts.Upstreams), upstream.MaxServers)
	}
	opts.StartWait = or(opts.StartWait, 25*time.Second)
	opts.StartLimit = or(opts.StartLimit, 5*time.Minute)
	opts.ListWait = or(opts.ListWait, 30*time.Second)
	opts.Backoff = or(opts.Backoff, time.Second)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Report == nil {
		opts.Report = func(string, error) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &Mux{
		opts: opts, out: make(chan jsonrpc.Message, maxQueue), ctx: ctx, cancel: cancel,
		calls: map[jsonrpc.ID]*call{}, asked: map[jsonrpc.ID]question{}, tokens: map[string]question{},
	}
	for _, u := range opts.Upstreams {
		if err := upstream.CheckName(u.Name); err != nil {
			cancel()
			return nil, err
		}
		if m.named(u.Name) != nil {
			cancel()
			return nil, fmt.Errorf("two servers are called %q", u.Name)
		}
		m.servers = append(m.servers, &server{m: m, name: u.Name, dial: u.Dial})
	}
	return m, nil
}

func or(d, usual time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return usual
}

func (m *Mux) named(name string) *server {
	i := slices.IndexFunc(m.servers, func(s *server) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return m.servers[i]
}

// SessionID implements [mcp.Connection]: there is none at this level.
func (m *Mux) SessionID() string { return "" }

// Read implements [mcp.Connection]: the next message for the client.
func (m *Mux) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-m.out:
		return msg, nil
	case <-m.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection]: one message from the client. It does not wait for servers. A
// message without a route gets an answer; only a closed connection is an error.
func (m *Mux) Write(_ context.Context, msg jsonrpc.Message) error {
	if m.ctx.Err() != nil {
		return mcp.ErrConnectionClosed
	}
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		m.answered(msg)
	case *jsonrpc.Request:
		if msg.IsCall() {
			m.called(msg)
		} else {
			m.noted(msg)
		}
	}
	return nil
}

// Close implements [mcp.Connection]. It ends every server and waits for them.
func (m *Mux) Close() error {
	m.once.Do(func() {
		m.mu.Lock()
		m.closed = true
		m.mu.Unlock()
		m.cancel()
	})
	m.work.Wait()
	return nil
}

// tell gives the client a message, unless the connection ends meanwhile.
func (m *Mux) tell(msg jsonrpc.Message) {
	select {
	case m.out <- msg:
	case <-m.ctx.Done():
	}
}

// do runs a function in a goroutine that Close waits for.
func (m *Mux) do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.work.Go(f)
	}
}

// number returns an unused id. Its caller holds the lock.
func (m *Mux) number() jsonrpc.ID {
	m.last++
	id, err := jsonrpc.MakeID(float64(m.last))
	if err != nil {
		panic(err) // a number is always a valid id
	}
	return id
}

var errGone = errors.New("the connection was closed")
