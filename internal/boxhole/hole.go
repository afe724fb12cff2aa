// Package boxhole answers programs in a box that want to reach a network. They are told
// of a proxy on the box's own loopback; this is the proxy, and it runs outside of the box.
// It connects them with hosts that the monitor granted by name and port, and with nothing
// else. What was asked for in vain is noted: it is a stranger's text, and kept only where
// it is a plain name.
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

	"github.com/floodmark/floodmark/internal/address"
)

// The limits of one box. A program that asks more often is told that nobody listens,
// which takes no time of this process.
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

// A Shelf has what a box may be given without anybody outside being asked.
type Shelf interface {
	Get(at string) (kind string, size int64, content io.ReadCloser, ok bool)
}

// A Hole is the way out of one box. Without a granted host it leads nowhere.
type Hole struct {
	granted []string
	// Shelf answers requests that name no host; nil: they are refused.
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

// New returns a way to the granted hosts, each written as «api.example:443». One that
// could not be granted is an error.
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

// errInner says that a name leads to this machine or to its neighbours.
var errInner = errors.New("the name leads to an address that is not public")

// dial connects with a granted host. What its name means is looked up now; the dot keeps
// the resolver from trying names of its own.
func dial(ctx context.Context, place string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(place)
	if err != nil {
		return nil, err
	}
	return Outward().DialContext(ctx, "tcp", net.JoinHostPort(host+".", port))
}

// Outward dials no address that is not of the open network, however a name came to mean it.
func Outward() *net.Dialer {
	return &net.Dialer{Timeout: dialTime, Control: func(_, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil || !address.Public(at.Addr()) {
			return errInner
		}
		return nil
	}}
}

// Serve answers requests until the listener is closed, or there were too many.
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

// Wanted are names that were asked for in vain, in the order of the first time: with a
// port where it was one that could be granted.
func (h *Hole) Wanted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.wanted)
}

// keep notes a connection with the box; false: the hole is closed.
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

// give answers from the shelf. Nothing of the request but its path counts, and none of it is
// noted.
func (h *Hole) give(conn net.Conn, at string, headOnly bool) {
	kind, size, content, ok := h.Shelf.Get(at)
	if !ok {
		_, _ = io.WriteString(conn, refusal("404 Not Found", "the mirror has only what the project's lock file pins"))
		return
	}
	defer content.Close()
	_ = conn.SetDeadline(time.Time{}) // the box may read as slowly as it likes, until it ends
	_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", kind, size)
	if err == nil && !headOnly {
		_, _ = io.CopyN(conn, content, size)
	}
}

// join carries bytes both ways until both have ended, one is cut off, or there were
// too many.
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

// carry copies until the end, and reports whether that was one.
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

// refusal is an answer of one line, with no word of the request in it.
func refusal(status, line string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\nfloodmark: %s\n", status, len(line)+len("floodmark: \n"), line)
}
