// Package pausebook keeps which pauses of owners hold, as they were read from the
// journal. A pause that was once seen to be over is over, whatever a clock says later, and
// what cannot be read again does not hold.
package pausebook

import (
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
)

// A Book is what is known here of the pauses of tenants.
type Book struct {
	mu    sync.Mutex // guards all below
	known map[string]*knownPauses
	// turns is how often something of a tenant was forgotten: what was read before
	// may be old.
	turns map[string]uint64
	// readings are those under way, by tenant.
	readings map[string]*Reading
}

// A knownPauses is what was read of one tenant, and when.
type knownPauses struct {
	list []floodmark.Pause
	read time.Time
	// first is when each was seen first, by a clock that cannot be set; over are
	// those that were seen not to hold any more.
	first map[pauseKey]time.Time
	over  map[pauseKey]bool
}

// A pauseKey names one pause.
type pauseKey struct {
	session     floodmark.SessionID
	from, until int64
}

func keyOf(p floodmark.Pause) pauseKey {
	return pauseKey{p.Session, p.From.UnixNano(), p.Until.UnixNano()}
}

// New returns a book in which nothing is known.
func New() *Book {
	return &Book{known: map[string]*knownPauses{}, turns: map[string]uint64{}, readings: map[string]*Reading{}}
}

// Stale reports whether a tenant's pauses have to be read again: another node
// may have written.
func (b *Book) Stale(tenant string, now time.Time, poll time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[tenant]
	return k == nil || k.read.IsZero() || now.Before(k.read) || now.Sub(k.read) >= poll
}

// Turn is how often something of a tenant was forgotten.
func (b *Book) Turn(tenant string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turns[tenant]
}

// Put takes in what was read, unless something of the tenant was written since the
// reading began: then nothing is known, and what was read pauses nothing.
// If a clock was set back, pauses that only observe are over.
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

// Forget makes the next one read again. What is over stays over.
func (b *Book) Forget(tenant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns[tenant]++
	if k := b.known[tenant]; k != nil {
		k.list, k.read = nil, time.Time{}
	}
}

// Of are the pauses of a tenant that were not ended, as far as they are known.
func (b *Book) Of(tenant string) []floodmark.Pause {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[tenant]
	if k == nil || len(k.list) == 0 {
		return nil
	}
	return slices.Clone(k.list)
}

// Holds reports whether a pause holds by the time that is written down, and by
// the clock that cannot be set.
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

// Tenants are those some pause was read of that is not ended.
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

// A Reading is one that is under way.
type Reading struct {
	turn uint64 // nothing was forgotten since it began, if this is still the turn
	Done chan struct{}
	Err  error // set before done is closed
}

// Begin returns the reading of a tenant's pauses that is under way, or a new one
// that is the caller's to do.
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

// End ends a reading for all who wait for it.
func (b *Book) End(tenant string, r *Reading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readings[tenant] == r {
		delete(b.readings, tenant)
	}
	close(r.Done)
}
