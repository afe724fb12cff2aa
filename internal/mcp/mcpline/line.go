// Package mcpline runs one connection to an MCP server, from its start to its end. It does not read
// the messages.
package mcpline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// A Line is a connection with a queue of messages to send.
type Line struct {
	conn  mcp.Connection
	queue chan jsonrpc.Message
}

// New returns a line whose queue has room for the given number of messages.
func New(conn mcp.Connection, room int) *Line {
	return &Line{conn: conn, queue: make(chan jsonrpc.Message, room)}
}

// Send queues a message, or reports false if there is no room. It does not wait, so that a server
// that does not read delays no other.
func (l *Line) Send(msg jsonrpc.Message) bool {
	select {
	case l.queue <- msg:
		return true
	default:
		return false
	}
}

// Take returns the next message to send, for a caller that does not use Run.
func (l *Line) Take() (jsonrpc.Message, bool) {
	select {
	case msg := <-l.queue:
		return msg, true
	default:
		return nil, false
	}
}

// Run sends the queued messages, calls got with each message that arrives, one after another, and
// runs greet at the same time. It returns why the line ended: the end of ctx, an error of greet, or
// an error of the connection. When it returns, the connection is closed and greet has returned.
func (l *Line) Run(ctx context.Context, greet func(context.Context) error, got func(jsonrpc.Message)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	written, greeted, read := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		if err := l.write(ctx); err != nil {
			await(ctx, read)
			stop(err)
		}
	}()
	go func() {
		defer close(greeted)
		if err := greet(ctx); err != nil {
			stop(err)
		}
	}()
	stop(l.read(ctx, got))
	close(read)
	_ = l.conn.Close() // why the line ended is known already
	<-written
	<-greeted
	return context.Cause(ctx)
}

// lastWords is how long we still read from a server that accepts no more messages, because it may
// have answered before it ended.
const lastWords = time.Second

// await waits until everything was read, but at most lastWords.
func await(ctx context.Context, read <-chan struct{}) {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (l *Line) write(ctx context.Context) error {
	for {
		select {
		case msg := <-l.queue:
			if err := l.conn.Write(ctx, msg); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *Line) read(ctx context.Context, got func(jsonrpc.Message)) error {
	for {
		msg, err := l.conn.Read(ctx)
		if err != nil {
			return err
		}
		got(msg)
	}
}

// Hello waits for the answer to initialize and returns its fields. limit bounds the wait. ctx ends
// with the line.
func Hello(limit, ctx context.Context, got <-chan *jsonrpc.Response) (map[string]json.RawMessage, error) {
	select {
	case answer := <-got:
		if answer.Error != nil {
			return nil, fmt.Errorf("initialize: %w", answer.Error)
		}
		said, err := mcpjson.Fields(answer.Result)
		if err != nil {
			return nil, fmt.Errorf("initialize: %w", err)
		}
		return said, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx) // why the line ended
	case <-limit.Done():
		return nil, errors.New("it did not answer initialize in time")
	}
}
