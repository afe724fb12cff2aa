// Package boxhole is the proxy between programs in a box and the network. The programs are told of
// a proxy on the box's own loopback; this package answers there, but runs outside of the box. It
// connects programs only to hosts that the monitor granted by name and port. It records the names
// of refused hosts. Such a name is untrusted text, so it is recorded only if it is a plain host
// name.
package boxhole

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/floodmark/floodmark/internal/text/address"
)

// The limits of one box. After maxAnswered requests, further ones find no listener, which costs
// this process no time.
const (
	MaxGranted = 8 // hosts

	maxWanted   = 64
	maxHead     = 4 << 10 // bytes of a request before its body
	maxAnswered = 10_000  // requests
	maxAtOnce   = 64
	maxSent     = 16 << 20  // bytes to all hosts together
	maxReceived = 256 << 20 // bytes from them

	headTime = 10 * time.Second
	dialTime = 15 * time.Second
)

// A Shelf has the content that a box may get without a request to any host.
type Shelf interface {
	Get(at string) (kind string, size int64, content io.ReadCloser, ok bool)
}

// A Hole is the proxy of one box. Without a granted host it connects to nothing.
type Hole struct {
	granted []string
	// Shelf answers requests that name no host. If it is nil, they are refused.
	Shelf Shelf

	dial func(ctx context.Context, place string) (net.Conn, error)
	life context.Context // until Close
	end  context.CancelFunc

	sent, received atomic.Int64

	mu     sync.Mutex // guards what is below
	wanted []string
	open   map[net.Conn]bool
	closed bool
	all    sync.WaitGroup
}

// New returns a proxy to the granted hosts, each written as «api.example:443». A host that may
// never be granted is an error.
func New(granted []string) (*Hole, error) {
	if len(granted) > MaxGranted {
		return nil, errors.New("too many hosts are granted")
	}
	for _, place := range granted {
		if _, ok := address.Place(place); !ok {
			return nil, fmt.Errorf("no box may reach %q", place)
		}
	}
	h := &Hole{granted: slices.Clone(granted), dial: dial, open: map[net.Conn]bool{}}
	h.life, h.end = context.WithCancel(context.Background())
	return h, nil
}

// errInner says that a name resolves to this machine or its local network.
var errInner = errors.New("the name leads to an address that is not public")

// dial connects to a granted host, whose name is resolved now. The final dot keeps the resolver
// from adding search domains.
func dial(ctx context.Context, place string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(place)
	if err != nil {
		return nil, err
	}
	return Outward().DialContext(ctx, "tcp", net.JoinHostPort(host+".", port))
}

// Outward returns a dialer that connects only to public addresses. It checks the address itself,
// after the name was resolved.
func Outward() *net.Dialer {
	return &net.Dialer{Timeout: dialTime, Control: func(_, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil || !address.Public(at.Addr()) {
			return errInner
		}
		return nil
	}}
}

// Serve answers requests until the listener is closed or maxAnswered were answered.
func (h *Hole) Serve(l net.Listener) {
	room := make(chan struct{}, maxAtOnce)
	for range maxAnswered {
		room <- struct{}{}
		conn, err := l.Accept()
		if err != nil {
			break
		}
		if !h.keep(conn) {
			break
		}
		go func() {
			defer h.all.Done()
			h.answer(conn)
			h.drop(conn)
			<-room
		}()
	}
	_ = l.Close()
}

// Close ends all connections and waits for them.
func (h *Hole) Close() {
	h.mu.Lock()
	h.closed = true
	for conn := range h.open {
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.end()
	h.all.Wait()
}

// Wanted returns the hosts that the box asked for and did not get, in the order of the first
// request for each. A host has its port if that host and port could be granted.
func (h *Hole) Wanted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.wanted)
}

// keep registers a connection, and reports false if the hole is closed.
func (h *Hole) keep(conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		_ = conn.Close()
		return false
	}
	h.open[conn] = true
	h.all.Add(1)
	return true
}

func (h *Hole) drop(conn net.Conn) {
	_ = conn.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, conn)
}

func (h *Hole) note(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if name != "" && len(h.wanted) < maxWanted && !slices.Contains(h.wanted, name) {
		h.wanted = append(h.wanted, name)
	}
}

// answer reads one request and connects it, or refuses it.
func (h *Hole) answer(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(headTime))
	head, rest, err := readHead(conn)
	if err != nil {
		_, _ = io.WriteString(conn, refusal("400 Bad Request", "this is no request that a box answers"))
		return
	}
	if at, only, own := wantsOwn(head); own && h.Shelf != nil {
		h.give(conn, at, only)
		return
	}
	place, name := target(head)
	if place == "" || !slices.Contains(h.granted, place) {
		h.note(name)
		_, _ = io.WriteString(conn, refusal("403 Forbidden", "no network in this box"))
		return
	}
	there, err := h.dial(h.life, place)
	if err != nil || !h.keep(there) {
		_, _ = io.WriteString(conn, refusal("502 Bad Gateway", "the host that was granted to this box cannot be reached"))
		return
	}
	defer h.all.Done()
	defer h.drop(there)
	_ = conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	h.join(conn, there, rest)
}

// give answers from the shelf. It uses only the path of the request, and records nothing.
func (h *Hole) give(conn net.Conn, at string, headOnly bool) {
	kind, size, content, ok := h.Shelf.Get(at)
	if !ok {
		_, _ = io.WriteString(conn, refusal("404 Not Found", "the mirror has only what the project's lock file pins"))
		return
	}
	defer content.Close()
	_ = conn.SetDeadline(time.Time{}) // the box may read slowly: its end closes the connection
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", kind, size)
	if err == nil && !headOnly {
		_, _ = io.CopyN(conn, content, size)
	}
}

// join copies bytes in both directions until both have ended. If one direction fails or is over its
// limit, both connections are closed.
func (h *Hole) join(conn, there net.Conn, first []byte) {
	var both sync.WaitGroup
	both.Go(func() {
		if h.carry(there, io.MultiReader(readerOf(first), conn), &h.sent, maxSent) {
			closeWrite(there)
			return
		}
		_, _ = conn.Close(), there.Close()
	})
	both.Go(func() {
		if h.carry(conn, there, &h.received, maxReceived) {
			closeWrite(conn)
			return
		}
		_, _ = conn.Close(), there.Close()
	})
	both.Wait()
}

// carry copies until from ends, and reports whether it ended without an error and within the limit.
func (h *Hole) carry(to io.Writer, from io.Reader, count *atomic.Int64, most int64) bool {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if count.Add(int64(n)) > most {
			return false
		}
		if _, failed := to.Write(buffer[:n]); failed != nil {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = conn.Close()
}

// refusal returns an answer of one line that contains no text of the request.
func refusal(status, line string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\nfloodmark: %s\n", status, len(line)+len("floodmark: \n"), line)
}
