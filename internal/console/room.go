package console

import (
	"net"
	"sync"
	"sync/atomic"
)

// A room bounds the open connections. One too many takes the place of the oldest that is not known
// to be an owner's; if all are, it is closed itself. So whatever an agent opens, the owner's pages
// stay connected.
type room struct {
	net.Listener

	most int        // connections
	mu   sync.Mutex // guards open
	open []*guest   // oldest first
}

// A guest is one open connection.
type guest struct {
	net.Conn
	in *room
	// known says that the owner's browser, or a page that is logged in, is at the other end.
	known atomic.Bool
	of    string // the person of that page; guarded by the room
}

// maxKnown is how many connections one person keeps. A browser has six for all its pages, or one.
const maxKnown = 32

// know says that a page of a person uses the connection. Those beyond maxKnown make way for others,
// or one person could keep all others out.
func (g *guest) know(person string) {
	if g.known.Load() {
		return
	}
	g.in.mu.Lock()
	defer g.in.mu.Unlock()
	n := 0
	for _, o := range g.in.open {
		if o.known.Load() && o.of == person {
			n++
		}
	}
	if n < maxKnown {
		g.of = person
		g.known.Store(true)
	}
}

// Accept implements [net.Listener].
func (r *room) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: conn, in: r}
	if out := r.enter(g); out != nil {
		_ = out.Conn.Close() // its server sees the error
	}
	return g, nil
}

// enter adds a connection and returns the one to close for it; nil if there is room.
func (r *room) enter(g *guest) (out *guest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) >= r.most {
		out = g
		for _, o := range r.open {
			if !o.known.Load() {
				out = o
				break
			}
		}
		if out == g {
			return g
		}
		r.remove(out)
	}
	r.open = append(r.open, g)
	return out
}

// Close closes the connection and makes room.
func (g *guest) Close() error {
	g.in.mu.Lock()
	g.in.remove(g)
	g.in.mu.Unlock()
	return g.Conn.Close()
}

func (r *room) remove(g *guest) {
	for i, o := range r.open {
		if o == g {
			r.open = append(r.open[:i], r.open[i+1:]...)
			return
		}
	}
}
