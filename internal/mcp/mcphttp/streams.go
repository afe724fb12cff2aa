package mcphttp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// streams makes contexts that tell the SDK's transport on which call's stream to write a message.
// The transport finds the stream by a private context key, which it sets for every call that one of
// its servers handles. So an empty server handles a ping with the id in question, and we keep the
// context it was given. The package comment says why we do not fork the SDK instead.
type streams struct {
	session *mcp.ServerSession
	pings   chan jsonrpc.Message
	done    chan struct{}
	close   func()
	answers chan struct{}
	made    chan context.Context

	one sync.Mutex // held during a ping
}

func newStreams(ctx context.Context) (*streams, error) {
	s := &streams{pings: make(chan jsonrpc.Message), done: make(chan struct{}), answers: make(chan struct{}), made: make(chan context.Context)}
	server := mcp.NewServer(&mcp.Implementation{Name: "floodmark", Version: "0"}, nil)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			select {
			case s.made <- context.WithoutCancel(ctx):
			case <-s.done:
			}
			return next(ctx, method, req)
		}
	})
	session, err := server.Connect(ctx, (*pinged)(s), nil)
	if err != nil {
		return nil, err
	}
	s.session = session
	s.close = sync.OnceFunc(func() {
		close(s.done)
		_ = session.Wait() // it returns when the connection has ended
	})
	return s, nil
}

// of returns a context for writing to the stream of a call, or ctx itself if id is invalid.
func (s *streams) of(ctx context.Context, id jsonrpc.ID) context.Context {
	if !id.IsValid() {
		return ctx
	}
	s.one.Lock()
	defer s.one.Unlock()
	select {
	case s.pings <- &jsonrpc.Request{ID: id, Method: "ping"}:
	case <-s.done:
		return ctx
	}
	var made context.Context
	select {
	case made = <-s.made:
	case <-s.done:
		return ctx
	}
	select {
	case <-s.answers:
	case <-s.done:
	}
	return made
}

// pinged is the connection of the empty server: it reads pings, and drops the answers.
type pinged streams

var errDone = errors.New("the session ended")

func (p *pinged) Connect(context.Context) (mcp.Connection, error) { return p, nil }

func (p *pinged) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-p.pings:
		return msg, nil
	case <-p.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pinged) Write(context.Context, jsonrpc.Message) error {
	select {
	case p.answers <- struct{}{}:
		return nil
	case <-p.done:
		return errDone
	}
}

func (p *pinged) Close() error { return nil }

func (p *pinged) SessionID() string { return "" }
