package mcpservice

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
)

// A line is one connection of a client. The process that opened it is looked up once.
type line struct {
	once   sync.Once
	ours   net.Addr
	theirs net.Addr
	who    hook.Process
	err    error
}

type lineKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, lineKey{}, &line{ours: c.LocalAddr(), theirs: c.RemoteAddr()})
}

// ErrStranger means that the calling process is unknown, or belongs to another user.
var ErrStranger = errors.New("it is not known which program calls, or it is another user's: connect from a program of your own on this machine")

// LocalCaller returns a function that returns the process at the other end of a request. The
// process must belong to one of these users. On a system where the process cannot be found out, the
// function returns the zero process.
func LocalCaller(users ...int) func(*http.Request) (hook.Process, error) {
	g := guesses{last: map[string]peer.Process{}}
	return func(r *http.Request) (hook.Process, error) {
		l, ok := r.Context().Value(lineKey{}).(*line)
		if !ok {
			return hook.Process{}, ErrStranger
		}
		l.once.Do(func() { l.who, l.err = g.lookUp(l, users, r.Header.Get("Mcp-Session-Id")) })
		return l.who, l.err
	}
}

// A guesses remembers which process last used each session id. Clients open a connection for nearly
// every call, and searching all processes for the other end of the connection takes longer than
// anything else. A guess only says which process to search first.
type guesses struct {
	mu   sync.Mutex // guards last
	last map[string]peer.Process
}

// maxGuesses bounds the guesses. If there are more, all are dropped.
const maxGuesses = 4096

func (g *guesses) lookUp(l *line, users []int, session string) (hook.Process, error) {
	a, err := netip.ParseAddrPort(l.ours.String())
	b, err2 := netip.ParseAddrPort(l.theirs.String())
	if err != nil || err2 != nil || len(session) > maxGuesses {
		return hook.Process{}, ErrStranger
	}
	g.mu.Lock()
	guess := g.last[session]
	g.mu.Unlock()
	p, err := peer.OfTCP(a, b, users, guess)
	if errors.Is(err, errors.ErrUnsupported) {
		return hook.Process{}, nil
	}
	if err != nil {
		return hook.Process{}, ErrStranger
	}
	if session != "" && p != guess {
		g.mu.Lock()
		if len(g.last) >= maxGuesses {
			clear(g.last)
		}
		g.last[session] = p
		g.mu.Unlock()
	}
	return hook.Process{PID: p.PID, Start: p.Start}, nil
}
