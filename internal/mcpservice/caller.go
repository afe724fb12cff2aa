package mcpservice

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/peer"
)

// A line is one connection of a client. Who is at its other end is looked up
// once: the process that opened it.
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

// ErrStranger says that nobody knows who calls, or that it is another user.
var ErrStranger = errors.New("it is not known which program calls, or it is another user's: connect from a program of your own on this machine")

// LocalCaller returns the process at the other end of a request, if it is one of
// these users'. Where the system does not tell, it returns none.
func LocalCaller(users ...int) func(*http.Request) (hook.Process, error) {
	return func(r *http.Request) (hook.Process, error) {
		l, ok := r.Context().Value(lineKey{}).(*line)
		if !ok {
			return hook.Process{}, ErrStranger
		}
		l.once.Do(func() { l.who, l.err = lookUp(l.ours, l.theirs, users) })
		return l.who, l.err
	}
}

func lookUp(ours, theirs net.Addr, users []int) (hook.Process, error) {
	a, err := netip.ParseAddrPort(ours.String())
	b, err2 := netip.ParseAddrPort(theirs.String())
	if err != nil || err2 != nil {
		return hook.Process{}, ErrStranger
	}
	p, err := peer.OfTCP(a, b, users)
	if errors.Is(err, errors.ErrUnsupported) {
		return hook.Process{}, nil
	}
	if err != nil {
		return hook.Process{}, ErrStranger
	}
	return hook.Process{PID: p.PID, Start: p.Start}, nil
}
