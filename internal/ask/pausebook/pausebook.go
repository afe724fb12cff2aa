// Package pausebook keeps the owners' pauses that are in effect, as they were read from the
// journal. A pause that was once seen to be over stays over, even if a clock is set back. If the
// pauses cannot be read again, none is in effect.
package pausebook

import (
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
)

// A Book holds the known pauses of tenants.
type Book struct {
	mu    sync.Mutex // guards all below
	known map[string]*knownPauses
	// turns counts how often the pauses of a tenant were forgotten. What was read before that may
	// be outdated.
	turns map[string]uint64
	// readings are the readings under way, by tenant.
	readings map[string]*Reading
}

// A knownPauses holds what was read of one tenant, and when.
type knownPauses struct {
	list []floodmark.Pause
	read time.Time
	// first is when each pause was first seen, by a clock that cannot be set. over are the pauses
	// that were seen to be over.
	first map[pauseKey]time.Time
	over  map[pauseKey]bool
}

// A pauseKey identifies one pause.
type pauseKey struct {
	session     floodmark.SessionID
	from, until int64
}

func keyOf(p floodmark.Pause) pauseKey {
	return pauseKey{p.Session, p.From.UnixNano(), p.Until.UnixNano()}
}

// New returns an empty book.
func New() *Book {
	return &Book{known: map[string]*knownPauses{}, turns: map[string]uint64{}, readings: map[string]*Reading{}}
}

// Stale reports whether a tenant's pauses have to be read again, because another node may have
// changed them.
func (b *Book) Stale(tenant string, now time.Time, poll time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[tenant]
	return k == nil || k.read.IsZero() || now.Before(k.read) || now.Sub(k.read) >= poll
}

// Turn returns how often the pauses of a tenant were forgotten.
func (b *Book) Turn(tenant string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turns[tenant]
}

// Put stores the pauses that were read. turn is the value of [Book.Turn] when the reading began; if
// it has changed since, the list is outdated and Put drops it. If back is true, a clock was set
// back, and pauses that only observe are over.
func (b *Book) Put(tenant string, list []floodmark.Pause, now time.Time, turn uint64, back bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if turn != b.turns[tenant] {
		return
	}
	old := b.known[tenant]
	k := &knownPauses{list: slices.Clone(list), read: now, first: map[pauseKey]time.Time{}, over: map[pauseKey]bool{}}
	for _, p := range list {
		key := keyOf(p)
		k.first[key] = now
		if p.Observe && back {
			k.over[key] = true
		}
		if old == nil {
			continue
		}
		if at, ok := old.first[key]; ok {
			k.first[key] = at
		}
		if old.over[key] {
			k.over[key] = true
		}
	}
	b.known[tenant] = k
}

// Forget drops the pauses of a tenant, so that they have to be read again. Pauses that are over
// stay over.
func (b *Book) Forget(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns[tenant]++
	if k := b.known[tenant]; k != nil {
		k.list, k.read = nil, time.Time{}
	}
}

// Of returns the known pauses of a tenant that were not ended.
func (b *Book) Of(tenant string) []floodmark.Pause {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[tenant]
	if k == nil || len(k.list) == 0 {
		return nil
	}
	return slices.Clone(k.list)
}

// Holds reports whether a pause is in effect, both by the recorded time at and by now, from a clock
// that cannot be set.
func (b *Book) Holds(tenant string, p floodmark.Pause, at, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[tenant]
	if k == nil {
		return p.Holds(at)
	}
	key := keyOf(p)
	if k.over[key] {
		return false
	}
	first, seen := k.first[key]
	if p.Holds(at) && (!seen || now.Sub(first) < p.Until.Sub(p.From)) {
		return true
	}
	k.over[key] = seen
	return false
}

// Tenants returns the tenants with a known pause that was not ended.
func (b *Book) Tenants() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for name, k := range b.known {
		if len(k.list) > 0 {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// A Reading is a reading of a tenant's pauses that is under way.
type Reading struct {
	turn uint64 // if this is still the turn, nothing was forgotten since the reading began
	Done chan struct{}
	Err  error // set before Done is closed
}

// Begin returns the reading of a tenant's pauses that is under way. If there is none, it returns a
// new one, with mine true; the caller then does the reading.
func (b *Book) Begin(tenant string) (r *Reading, mine bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.readings[tenant]; r != nil && r.turn == b.turns[tenant] {
		return r, false
	}
	r = &Reading{turn: b.turns[tenant], Done: make(chan struct{})}
	b.readings[tenant] = r
	return r, true
}

// End ends a reading and wakes all callers that wait for it.
func (b *Book) End(tenant string, r *Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readings[tenant] == r {
		delete(b.readings, tenant)
	}
	close(r.Done)
}
