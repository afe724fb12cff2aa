package mcpline_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpline"
)

// ends is a connection in memory.
type ends struct {
	in      chan jsonrpc.Message
	out     chan jsonrpc.Message
	refuse  error // of Write
	refused func()
	closing sync.Once
	closed  chan struct{}
}

func newEnds() *ends {
	return &ends{in: make(chan jsonrpc.Message), out: make(chan jsonrpc.Message, 8), closed: make(chan struct{}), refused: func() {}}
}

func (e *ends) SessionID() string { return "" }

func (e *ends) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-e.in:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *ends) Write(_ context.Context, m jsonrpc.Message) error {
	if e.refuse != nil {
		e.refused()
		return e.refuse
	}
	e.out <- m
	return nil
}

func (e *ends) Close() error {
	e.closing.Do(func() { close(e.closed) })
	return nil
}

func silent(context.Context) error      { return nil }
func nothing(jsonrpc.Message)           {}
func note(text string) *jsonrpc.Request { return &jsonrpc.Request{Method: text} }

func TestALineEndsAndSaysWhy(t *testing.T) {
	broken := errors.New("broken")
	cases := map[string]struct {
		greet  func(context.Context) error
		refuse error
		end    func(e *ends, stop func())
		want   error
	}{
		"the server left":    {silent, nil, func(e *ends, _ func()) { close(e.in) }, io.EOF},
		"greet failed":       {func(context.Context) error { return broken }, nil, func(*ends, func()) {}, broken},
		"nothing is written": {silent, broken, func(*ends, func()) {}, broken},
		"its owner ended it": {silent, nil, func(_ *ends, stop func()) { stop() }, context.Canceled},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnds()
				e.refuse = c.refuse
				l := mcpline.New(e, 1)
				if !l.Send(note("first")) {
					t.Fatal("no room")
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go c.end(e, stop)
				if err := l.Run(ctx, c.greet, nothing); !errors.Is(err, c.want) {
					t.Errorf("ended by %v, want %v", err, c.want)
				}
				select {
				case <-e.closed:
				default:
					t.Error("the connection is still open")
				}
			})
		})
	}
}

// The answer of a server that ends right after it is still read, although nothing more can be sent
// to the server.
func TestLastWordsAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, refused := newEnds(), make(chan struct{})
		e.refuse = errors.New("broken")
		e.refused = sync.OnceFunc(func() { close(refused) })
		l := mcpline.New(e, 1)
		if !l.Send(note("first")) {
			t.Fatal("no room")
		}
		go func() {
			<-refused
			e.in <- note("the answer")
			close(e.in)
		}()
		heard := 0
		if err := l.Run(t.Context(), silent, func(jsonrpc.Message) { heard++ }); !errors.Is(err, io.EOF) || heard != 1 {
			t.Errorf("heard %d, ended by %v", heard, err)
		}
	})
}

func TestALineCarriesBothWaysInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds()
		l := mcpline.New(e, 2)
		if !l.Send(note("a")) || !l.Send(note("b")) || l.Send(note("c")) {
			t.Error("room for two is room for two")
		}
		var heard []string
		go func() {
			for _, m := range []string{"x", "y", "z"} {
				e.in <- note(m)
			}
			for _, want := range []string{"a", "b"} {
				if got := (<-e.out).(*jsonrpc.Request).Method; got != want {
					t.Errorf("sent %q, want %q", got, want)
				}
			}
			close(e.in)
		}()
		_ = l.Run(t.Context(), silent, func(m jsonrpc.Message) { heard = append(heard, m.(*jsonrpc.Request).Method) })
		if got := strings.Join(heard, ""); got != "xyz" {
			t.Errorf("heard %q", got)
		}
	})
}

func TestHello(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	answered := func(r *jsonrpc.Response) chan *jsonrpc.Response {
		got := make(chan *jsonrpc.Response, 1)
		got <- r
		return got
	}
	if said, err := mcpline.Hello(t.Context(), t.Context(), answered(&jsonrpc.Response{Result: json.RawMessage(`{"a":1}`)})); err != nil || string(said["a"]) != "1" {
		t.Error(said, err)
	}
	for name, try := range map[string]func() error{
		"refused": func() error {
			_, err := mcpline.Hello(t.Context(), t.Context(), answered(&jsonrpc.Response{Error: errors.New("no")}))
			return err
		},
		"no words": func() error {
			_, err := mcpline.Hello(t.Context(), t.Context(), answered(&jsonrpc.Response{Result: json.RawMessage(`7`)}))
			return err
		},
		"late":  func() error { _, err := mcpline.Hello(over, t.Context(), nil); return err },
		"ended": func() error { _, err := mcpline.Hello(t.Context(), over, nil); return err },
	} {
		if try() == nil {
			t.Error(name, "is no error")
		}
	}
}
