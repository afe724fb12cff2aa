package box

import (
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/boxhole"
	"github.com/floodmark/floodmark/internal/mirror"
)

// A way leads from the proxy that programs in the box are told of to the hosts that were
// granted. The inside makes the listener, because only there is the box's network; the
// outside answers on it, because only here is the machine's.
type way struct {
	hole   *boxhole.Hole
	inside *os.File // where the listener comes from

	all      sync.WaitGroup
	mu       sync.Mutex // guards what is below
	listener net.Listener
	closed   bool
}

// hole is what the box may reach.
func (s *Spec) hole() (*boxhole.Hole, error) {
	hole, err := boxhole.New(s.Hosts)
	if err == nil && s.Mirror.Set != "" {
		hole.Shelf, err = mirror.Open(s.Mirror.Folder, s.Mirror.Set)
	}
	return hole, err
}

// socketPair returns the two ends of a socket: for this process, and for the inside.
func socketPair() (outer, inner *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(ends[0]), "inside"), os.NewFile(uintptr(ends[1]), "proxy"), nil
}

// open answers as soon as the inside has made its listener. A box without one has ended,
// or has no network.
func (w *way) open() {
	w.all.Go(func() {
		l, err := boxhole.Receive(w.inside)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.listener = l
		if w.closed {
			_ = l.Close()
		}
		w.mu.Unlock()
		w.hole.Serve(l)
	})
}

// close ends all connections. The inside is gone, so that nothing is waited for.
func (w *way) close() {
	w.mu.Lock()
	w.closed = true
	if w.listener != nil {
		_ = w.listener.Close()
	}
	w.mu.Unlock()
	_ = w.inside.Close()
	w.hole.Close()
	w.all.Wait()
}

// wanted are what programs asked the proxy for and the names they looked up, each once:
// those with a port first, because of these it is known best what was wanted.
func (w *way) wanted(names []string) []string {
	list := w.hole.Wanted()
	slices.SortStableFunc(list, func(a, b string) int { return strings.Count(b, ":") - strings.Count(a, ":") })
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	known := slices.Clone(list)
	return slices.DeleteFunc(list, func(name string) bool {
		return slices.ContainsFunc(known, func(other string) bool { return strings.HasPrefix(other, name+":") })
	})
}
