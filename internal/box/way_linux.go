package box

import (
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box/boxhole"
	"github.com/floodmark/floodmark/internal/box/mirror"
)

// A way connects the proxy inside a box with the hosts that were granted. The listener is made
// inside, because only there is the box's network. It is served outside, because only there is the
// machine's network.
type way struct {
	hole   *boxhole.Hole
	inside *os.File // the socket by which the listener comes

	all      sync.WaitGroup
	mu       sync.Mutex // guards what is below
	listener net.Listener
	closed   bool
}

// hole returns the proxy of the box.
func (s *Spec) hole() (*boxhole.Hole, error) {
	hole, err := boxhole.New(s.Hosts)
	if err == nil && s.Mirror.Set != "" {
		hole.Shelf, err = mirror.Open(s.Mirror.Folder, s.Mirror.Set)
	}
	return hole, err
}

// socketPair returns the two ends of a socket: one for this process, one for the inside.
func socketPair() (outer, inner *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(ends[0]), "inside"), os.NewFile(uintptr(ends[1]), "proxy"), nil
}

// open serves the listener as soon as the inside has made it. If none comes, the box has ended or
// has no network.
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

// close ends all connections. All processes inside are gone, so it does not wait long.
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

// wanted returns the hosts that programs asked the proxy for and the names they looked up, each
// once. Hosts with a port come first, because they say most precisely what was wanted.
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
