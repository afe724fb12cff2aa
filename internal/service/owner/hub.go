package owner

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/floodmark/floodmark/monitor"
)

// A Hub passes events to all watchers. A slow watcher delays nothing, because events that do not
// fit into its channel are dropped and counted.
type Hub struct {
	closed chan struct{}

	mu       sync.Mutex // guards what is below
	ended    bool
	watchers map[*Watcher]string // by tenant
	// asked is a ring of the last entries about questions that this node wrote, and next is the
	// next one's index.
	asked [maxAsked]entryAt
	known map[entryAt]bool
	next  int
}

// maxAsked is how many entries about questions are remembered: more than a node writes in the time
// for which a [lookout] looks back. An entry that was forgotten too early is reported twice.
const maxAsked = 4096

// A Watcher receives the events of a tenant.
type Watcher struct {
	// C gets the events. It is never closed.
	C      chan monitor.Observation
	missed atomic.Int64
}

// maxUnread bounds the events that one watcher leaves unread.
const maxUnread = 256

// NewHub returns a hub without watchers.
func NewHub() *Hub {
	return &Hub{closed: make(chan struct{}), watchers: map[*Watcher]string{}, known: map[entryAt]bool{}}
}

// Close makes all watchers stop.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.ended = true
		close(h.closed)
	}
}

// Closed returns a channel that is closed when no more events will come.
func (h *Hub) Closed() <-chan struct{} { return h.closed }

// Tell passes an observation of this node to the watchers. It never blocks.
func (h *Hub) Tell(o monitor.Observation) {
	h.note(o)
	h.hand(o)
}

// note remembers the entries about questions that this node has written.
func (h *Hub) note(o monitor.Observation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range o.Entries {
		if !strings.HasPrefix(e.Kind, "ticket-") {
			continue
		}
		delete(h.known, h.asked[h.next])
		h.asked[h.next] = entryAt{o.Session, e.Seq}
		h.known[h.asked[h.next]] = true
		h.next = (h.next + 1) % len(h.asked)
	}
}

// told reports whether this node has written an entry about a question.
func (h *Hub) told(at entryAt) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[at]
}

// hand sends an observation to all watchers. A watcher checks the tenant itself.
func (h *Hub) hand(o monitor.Observation) {
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

// Watch begins to watch the events of a tenant; end stops it.
func (h *Hub) Watch(tenant string) (w *Watcher, end func()) {
	w = &Watcher{C: make(chan monitor.Observation, maxUnread)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers[w] = tenant
	return w, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}
}

// Watched reports whether there is a watcher.
func (h *Hub) Watched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers) > 0
}

// tenants returns the tenants that have watchers.
func (h *Hub) tenants() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Compact(slices.Sorted(maps.Values(h.watchers)))
}

// Missed returns how many events were dropped since the last call.
func (w *Watcher) Missed() int64 { return w.missed.Swap(0) }
