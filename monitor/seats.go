package monitor

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// A seat is a session being worked on or remembered. The goroutine that holds it is the session's
// only writer in this process.
type seat struct {
	session journal.Session

	// Guarded by the lock of the seats.
	held    bool
	stalled bool            // the holder waits for a flush
	waiting []chan struct{} // the next turns, in order
	charged int64           // the bytes that the cache counts for this seat
	place   *list.Element   // of this seat in seats.order
	// flushing is the flush being written; next collects the events that are judged meanwhile.
	flushing, next *flush
	broken         uint64 // how many flushes failed

	// These belong to the holder of the seat.
	memory
	index    *index
	readings *kernel.Readings // of the owner's words
}

// A memory is the known state of a session after its entries up to link. The zero memory means that
// the state is unknown.
type memory struct {
	state *kernel.State
	link  journal.Link
	stone *journal.Tombstone
	since int  // facts after the newest snapshot
	kept  int  // sources in the newest snapshot
	large bool // too large for a snapshot; it only grows, and each try takes memory for all of it
	// seen are incidents found while reading the session, to be written with its next facts.
	seen []floodmark.IncidentSeen
	// basis is how many flushes of the seat had failed when the session was read. After another
	// failure the state may contain facts that were never written.
	basis uint64

	sized, words int // how many of the owner's texts size has counted, and their bytes
}

// drop forgets the session: the next event reads it again.
func (s *seat) drop() { s.memory, s.index, s.readings = memory{}, nil, nil }

// The memory that a session takes, measured and rounded up.
const (
	seatBytes   = 12 << 10 // with little in it
	sourceBytes = 512      // for each source
	wordFactor  = 4        // for each byte the owner typed
)

// size returns about how much memory a seat takes. It counts each of the owner's texts once, because
// no text is ever changed or removed.
func (s *seat) size() int64 {
	if s.state == nil {
		return 0
	}
	for _, text := range s.state.Owner[min(s.sized, len(s.state.Owner)):] {
		s.words += len(text)
		s.sized++
	}
	n := int64(seatBytes) + int64(s.state.Ledger.Len())*sourceBytes + int64(s.words)*wordFactor
	return n + s.index.size() + s.readings.Size()
}

// seats are all sessions that are held or remembered, within a bound of bytes.
type seats struct {
	limit int64
	queue int // how many may wait for one session

	mu    sync.Mutex // guards all below
	all   map[journal.Session]*seat
	order *list.List // of *seat, the last used first
	bytes int64
}

func newSeats(limit int64, queue int) *seats {
	return &seats{limit: limit, queue: queue, all: map[journal.Session]*seat{}, order: list.New()}
}

// enter waits for a session's turn, first come first served. The caller gives the seat back with
// leave. A retry (again) after a conflict bypasses the queue limit.
func (t *seats) enter(ctx context.Context, id journal.Session, again bool) (*seat, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	s := t.all[id]
	if s == nil {
		s = &seat{session: id}
		s.place = t.order.PushFront(s)
		t.all[id] = s
	}
	if s.behind() >= t.queue && !again {
		t.mu.Unlock()
		return nil, fmt.Errorf("%w: %d events wait for session %s", ErrBusy, t.queue, id)
	}
	if !s.held {
		s.held = true
		t.order.MoveToFront(s.place)
		t.mu.Unlock()
		return s, nil
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return s, nil
	case <-ctx.Done():
		t.giveUp(s, turn)
		return nil, ctx.Err()
	}
}

// behind returns how many events wait for their turn or for a flush to be written. That includes
// events that joined a flush and write nothing themselves.
func (s *seat) behind() int {
	n := len(s.waiting)
	if s.stalled {
		n++
	}
	if s.flushing != nil {
		n += max(0, s.flushing.waiting-s.flushing.carried)
	}
	if s.next != nil {
		n += s.next.waiting
	}
	return n
}

// giveUp leaves the queue. If the turn came at the same moment, giveUp passes it on.
func (t *seats) giveUp(s *seat, turn chan struct{}) {
	t.mu.Lock()
	at := slices.Index(s.waiting, turn)
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	t.mu.Unlock()
	if at < 0 {
		t.leave(s)
	}
}

// leave gives a seat to the next waiter. Without a waiter the seat stays cached if there is room.
func (t *seats) leave(s *seat) {
	size := s.size()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += size - s.charged
	s.charged = size
	if len(s.waiting) > 0 {
		next := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		close(next)
	} else {
		s.held = false
	}
	t.tidy(s)
}

// tidy drops s if it has no known state. While the cache is above its limit, it also drops the seats
// that were used least recently. A seat that is held, or being written, stays.
func (t *seats) tidy(s *seat) {
	if s.free() && s.charged == 0 {
		t.remove(s)
	}
	for e := t.order.Back(); e != nil && t.bytes > t.limit; {
		before := e.Prev()
		if old, ok := e.Value.(*seat); ok && old.free() {
			t.remove(old)
		}
		e = before
	}
}

func (s *seat) free() bool { return !s.held && s.flushing == nil && s.next == nil }

func (t *seats) remove(s *seat) {
	t.order.Remove(s.place)
	delete(t.all, s.session)
	t.bytes -= s.charged
}
