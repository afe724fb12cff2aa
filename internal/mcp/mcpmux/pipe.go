package mcpmux

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pipe returns two ends of one connection inside this process: a message written to one is read
// from the other, unchanged. Closing one end closes both.
func Pipe() (mcp.Connection, mcp.Connection) {
	there, back, closed := make(chan jsonrpc.Message), make(chan jsonrpc.Message), make(chan struct{})
	once := sync.OnceFunc(func() { close(closed) })
	return &end{in: there, out: back, closed: closed, close: once}, &end{in: back, out: there, closed: closed, close: once}
}

type end struct {
	in, out chan jsonrpc.Message
	closed  chan struct{}
	close   func()
}

func (e *end) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-e.in:
		return msg, nil
	case <-e.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *end) Write(ctx context.Context, msg jsonrpc.Message) error {
	select {
	case e.out <- msg:
		return nil
	case <-e.closed:
		return mcp.ErrConnectionClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *end) Close() error {
	e.close()
	return nil
}

func (e *end) SessionID() string { return "" }
