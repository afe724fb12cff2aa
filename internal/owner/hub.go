package owner

import (
	"sync"
	"sync/atomic"

	"github.com/floodmark/floodmark/monitor"
)

// A Hub hands what happens to everybody who watches. Nobody who reads slowly
// holds anything up: what does not fit is left out, and counted.
type Hub struct {
	closed chan struct{}

	mu       sync.Mutex // guards what is below
	ended    bool
	watchers map[*Watcher]struct{}
}

// A Watcher is one who watches.
type Watcher struct {
	// C has what happened. It is never closed.
	C      chan monitor.Observation
	missed atomic.Int64
}

// maxUnread is how much one watcher may leave unread.
const maxUnread = 256

// NewHub returns a hub nobody watches.
func NewHub() *Hub { return &Hub{closed: make(chan struct{}), watchers: map[*Watcher]struct{}{}} }

// Close sends everybody home who watches.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.ended = true
		close(h.closed)
	}
}

// Closed is closed when nothing more will be told.
func (h *Hub) Closed() <-chan struct{} { return h.closed }

// Tell hands an observation on. It never blocks.
func (h *Hub) Tell(o monitor.Observation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		select {
		case w.C <- o:
		default:
			w.missed.Add(1)
		}
	}
}

// Watch begins to watch; end stops it.
func (h *Hub) Watch() (w *Watcher, end func()) {
	w = &Watcher{C: make(chan monitor.Observation, maxUnread)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers[w] = struct{}{}
	return w, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}
}

// Watched reports whether anybody watches.
func (h *Hub) Watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

// Missed returns how much was left out since it was last asked.
func (w *Watcher) Missed() int64 { return w.missed.Swap(0) }
