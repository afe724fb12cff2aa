package daemon

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/floodmark/floodmark/internal/peer"
)

// A caller is the process that opened a connection to a local socket.
type caller struct {
	peer.Peer
	// why says why the caller is not taken for the owner; empty if it is.
	why string
	// kind is the same for programs.
	kind string
}

// owner reports whether the caller may speak for the owner.
func (c caller) owner() bool { return c.why == "" }

// A gate decides whether the process at the owner's socket speaks for the owner. The user alone
// does not tell: an agent's shell runs as the owner's user. So every descendant of a protected
// agent is refused.
type gate struct {
	table   peer.Table
	guarded *peer.Guarded
	// users may speak for the owner.
	users []int
	of    func(net.Conn) (pid, uid int, err error)
}

// judge identifies the process at the other end. One it cannot identify is not the owner.
func (g *gate) judge(c net.Conn) caller {
	pid, uid, err := g.of(unwrap(c))
	if err != nil {
		return caller{kind: "unknown-peer", why: "the system does not say who you are: " + err.Error()}
	}
	p, err := peer.Trace(g.table, pid)
	if err != nil {
		return caller{Peer: peer.Peer{Info: peer.Info{Process: peer.Process{PID: pid}, UID: uid}}, kind: "unknown-peer", why: err.Error()}
	}
	return g.place(p, uid)
}

func (g *gate) place(p peer.Peer, uid int) caller {
	c := caller{Peer: p}
	c.UID = uid // by the socket: a process can make the table say root
	allowed := false
	for _, u := range g.users {
		allowed = allowed || u == uid
	}
	if !allowed {
		c.kind, c.why = "wrong-user", fmt.Sprintf("user %d is not the owner", uid)
	} else if name, below := g.guarded.Above(p); below {
		c.kind = "agent-at-owner-door"
		c.why = "you descend from " + name + ", which this monitor guards: an agent cannot answer its own questions (use a terminal the agent was not started from)"
	}
	return c
}

// still repeats the judgement for each call: since the connection was opened, the caller may have
// become the child of a guarded agent, or its number may be another process's.
func (g *gate) still(c caller) caller {
	if !c.owner() {
		return c
	}
	now, err := peer.Trace(g.table, c.PID)
	if err != nil || now.Process != c.Process {
		c.kind, c.why = "unknown-peer", "the process that connected has ended"
		return c
	}
	return g.place(now, c.UID)
}

// owners are the users that may speak for the owner: the daemon's own, and
// root, who could do anything anyway.
func owners() []int { return []int{os.Getuid(), 0} }

// unwrap returns the connection as the system knows it.
func unwrap(c net.Conn) net.Conn {
	for {
		inner, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = inner.NetConn()
	}
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf returns the caller of a request; the zero caller may do nothing.
func callerOf(ctx context.Context) caller {
	c, ok := ctx.Value(callerKey{}).(caller)
	if !ok {
		return caller{kind: "unknown-peer", why: "not known who is there"}
	}
	return c
}
