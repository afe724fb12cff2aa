package peer

import (
	"context"
	"fmt"
	"net"
	"os"
)

// A Caller is the process that opened a connection to a local socket.
type Caller struct {
	Peer
	// Why says why the caller is not taken for the owner; empty if it is.
	Why string
	// Kind is the same for programs.
	Kind string

	owner bool
}

// Owner reports whether the caller may speak for the owner.
func (c Caller) Owner() bool { return c.owner }

// A Gate decides whether the process at the owner's socket speaks for the owner. The user alone
// does not tell: an agent's shell runs as the owner's user. So every descendant of a protected
// agent is refused.
type Gate struct {
	Table   Table
	Guarded *Guarded
	// Users may speak for the owner.
	Users []int
	// Of returns the process at the other end as the system knows it: [Of].
	Of func(net.Conn) (pid, uid int, err error)
}

// Judge identifies the process at the other end. One it cannot identify is not the owner.
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

func (g *Gate) place(p Peer, uid int) Caller {
	c := Caller{Peer: p, owner: true}
	c.UID = uid // by the socket: a process can make the table say root
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

// Still repeats the judgement for each call: since the connection was opened, the caller may have
// become the child of a guarded agent, or its number may be another process's.
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

// Owners are the users that may speak for the owner: the daemon's own, and
// root, who could do anything anyway.
func Owners() []int { return []int{os.Getuid(), 0} }

// Unwrap returns the connection as the system knows it.
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

// WithCaller returns the context of requests that c makes.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of a request; the zero caller may do nothing.
func CallerOf(ctx context.Context) Caller {
	c, ok := ctx.Value(callerKey{}).(Caller)
	if !ok {
		return Caller{Kind: "unknown-peer", Why: "not known who is there"}
	}
	return c
}
