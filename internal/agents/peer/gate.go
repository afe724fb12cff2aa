package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
)

// A Caller is the process that opened a connection to a local socket.
type Caller struct {
	Peer
	// Why is the reason why the caller is not taken for the owner, for people; empty if it is.
	Why string
	// Kind is the same reason as a word for programs.
	Kind string

	owner bool
}

// Owner reports whether the caller may speak for the owner.
func (c Caller) Owner() bool { return c.owner }

// A Gate decides whether the process at the owner's socket speaks for the owner. The user alone
// does not decide that, because an agent's shell runs as the owner's user. So every descendant of a
// protected agent is refused.
type Gate struct {
	Table   Table
	Guarded *Guarded
	// Users are the users that may speak for the owner.
	Users []int
	// Of returns the number and the user of the process at the other end of a connection. It is the
	// function [Of]; tests replace it.
	Of func(net.Conn) (pid, uid int, err error)
	// OfTCP returns the process at the other end of a connection over loopback, and its user. It is
	// nil for the system's own; tests replace it.
	OfTCP func(ours, theirs netip.AddrPort, users []int, guess Process) (Process, int, error)
}

// Judge identifies the process at the other end. A process that it cannot identify is not taken for
// the owner.
func (g *Gate) Judge(c net.Conn) Caller {
	pid, uid, err := g.Of(Unwrap(c))
	if err != nil {
		return Caller{Kind: "unknown-peer", Why: "the system does not say who you are: " + err.Error()}
	}
	p, err := Trace(g.Table, pid)
	if err != nil {
		return Caller{Peer: Peer{Info: Info{Process: Process{PID: pid}, UID: uid}}, Kind: "unknown-peer", Why: err.Error()}
	}
	return g.place(p, uid)
}

// JudgeTCP identifies the process at the other end of a connection on this machine. The process of
// guess is looked at first; see [OfTCP]. It returns false where the system does not tell; of any
// other failure the caller says why it is not taken for the owner.
func (g *Gate) JudgeTCP(ours, theirs netip.AddrPort, guess Process) (_ Caller, told bool) {
	of := g.OfTCP
	if of == nil {
		of = tcpPeer
	}
	found, uid, err := of(ours, theirs, g.Users, guess)
	if errors.Is(err, errors.ErrUnsupported) {
		return Caller{}, false
	}
	var p Peer
	if err == nil {
		p, err = Trace(g.Table, found.PID)
	}
	if err == nil && p.Process != found {
		err = fmt.Errorf("%w: the process that connected has ended", ErrUnknown)
	}
	if err != nil {
		return Caller{Peer: Peer{Info: Info{Process: found, UID: uid}}, Kind: "unknown-peer", Why: err.Error()}, true
	}
	return g.place(p, uid), true
}

func (g *Gate) place(p Peer, uid int) Caller {
	c := Caller{Peer: p, owner: true}
	c.UID = uid // from the socket, because a process can make the table say root
	allowed := false
	for _, u := range g.Users {
		allowed = allowed || u == uid
	}
	if !allowed {
		c.owner, c.Kind, c.Why = false, "wrong-user", fmt.Sprintf("user %d is not the owner", uid)
	} else if name, below := g.Guarded.Above(p); below {
		c.owner, c.Kind = false, "agent-at-owner-door"
		c.Why = "you descend from " + name + ", which this monitor guards: an agent cannot answer its own questions (use a terminal the agent was not started from)"
	}
	return c
}

// Still judges a caller again; it is called for each request. Since the connection was opened, the
// caller may have become the child of a guarded agent, or its number may belong to another process.
func (g *Gate) Still(c Caller) Caller {
	if !c.Owner() {
		return c
	}
	now, err := Trace(g.Table, c.PID)
	if err != nil || now.Process != c.Process {
		c.owner, c.Kind, c.Why = false, "unknown-peer", "the process that connected has ended"
		return c
	}
	return g.place(now, c.UID)
}

// Owners returns the users that may speak for the owner: the daemon's own, and root, who could do
// anything anyway.
func Owners() []int { return []int{os.Getuid(), 0} }

// Unwrap returns the system's own connection inside a wrapped one.
func Unwrap(c net.Conn) net.Conn {
	for {
		inner, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = inner.NetConn()
	}
}

type callerKey struct{}

// WithCaller returns a context for the requests of a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of a request. Without one it returns a caller that is not the owner.
func CallerOf(ctx context.Context) Caller {
	c, ok := ctx.Value(callerKey{}).(Caller)
	if !ok {
		return Caller{Kind: "unknown-peer", Why: "not known who is there"}
	}
	return c
}
