package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// Pauses is the session of every tenant that keeps what its owner paused. No
// agent can write to it.
const Pauses floodmark.SessionID = "floodmark/pauses"

// maxPauses bounds the pauses of a tenant that are not ended.
const maxPauses = 256

// ErrPause says that a pause cannot be as it was wanted.
var ErrPause = errors.New("no such pause")

// Pause leaves decisions of one session unenforced for a time, or, without a
// session, those of all of a tenant. A pause that was there is replaced. Whoever
// calls it vouches, in by and channel, for who wants that.
func (m *Monitor) Pause(ctx context.Context, s journal.Session, length time.Duration, by, channel string) (floodmark.Pause, error) {
	if length <= 0 || length > floodmark.MaxPause {
		return floodmark.Pause{}, fmt.Errorf("%w: it takes more than nothing and at most %s", ErrPause, floodmark.MaxPause)
	}
	if s.ID != "" {
		if err := checkNames(s, ""); err != nil {
			return floodmark.Pause{}, err
		}
	}
	var p floodmark.Pause
	err := m.notePause(ctx, s.Tenant, func(st *kernel.State, at time.Time) ([]floodmark.Fact, error) {
		p = floodmark.Pause{Session: s.ID, From: at, Until: at.Add(length), By: by, Channel: channel}
		if len(st.Pauses) >= maxPauses && !slices.ContainsFunc(st.Pauses, func(o floodmark.Pause) bool { return o.Session == s.ID }) {
			return nil, fmt.Errorf("%w: there are %d already, end some first", ErrPause, maxPauses)
		}
		return []floodmark.Fact{floodmark.PauseBegan{Pause: p}}, nil
	})
	if err != nil {
		return floodmark.Pause{}, err
	}
	return p, nil
}

// Resume ends a pause, whether its time is over or not, and reports whether
// there was one.
func (m *Monitor) Resume(ctx context.Context, tenant string, f floodmark.PauseEnded) (bool, error) {
	was := false
	err := m.notePause(ctx, tenant, func(st *kernel.State, _ time.Time) ([]floodmark.Fact, error) {
		was = slices.ContainsFunc(st.Pauses, func(p floodmark.Pause) bool { return p.Session == f.Session })
		if !was {
			return nil, nil
		}
		return []floodmark.Fact{f}, nil
	})
	return was, err
}

// notePause writes to the session of pauses and reads it again.
func (m *Monitor) notePause(ctx context.Context, tenant string, what func(*kernel.State, time.Time) ([]floodmark.Fact, error)) error {
	err := m.note(ctx, journal.Session{Tenant: tenant, ID: Pauses}, func(st *kernel.State, in kernel.Input) (kernel.Output, error) {
		facts, err := what(st, in.At)
		return kernel.Output{Facts: facts}, err
	})
	m.pauses.forget(tenant)
	return err
}

// Paused returns the pauses of a tenant that were not ended, those that are over
// among them: somebody has to say what they let through.
func (m *Monitor) Paused(ctx context.Context, tenant string) ([]floodmark.Pause, error) {
	if err := m.begin(); err != nil {
		return nil, refuse(err)
	}
	defer m.done()
	ring, err := m.ring(tenant)
	if err != nil {
		return nil, refuse(fmt.Errorf("%w: %w", ErrNoTenant, err))
	}
	list, err := m.readPauses(ctx, tenant, ring)
	if err != nil {
		return nil, refuse(err)
	}
	return list, nil
}

// PauseHolds reports whether a pause that was read here holds now. One that was
// once seen to be over is over, whatever the clock says afterwards.
func (m *Monitor) PauseHolds(tenant string, p floodmark.Pause) bool {
	now := m.cfg.Now()
	return m.pauses.holds(tenant, p, now.Round(0).UTC(), now)
}

// Pausing is how many pauses hold of those that were read here.
func (m *Monitor) Pausing() int {
	n := 0
	for _, tenant := range m.pauses.tenants() {
		for _, p := range m.pauses.of(tenant) {
			if m.PauseHolds(tenant, p) {
				n++
			}
		}
	}
	return n
}

// PausedTenants are those some pause was read of that is not ended.
func (m *Monitor) PausedTenants() []string { return m.pauses.tenants() }

// pauseOf is the pause that holds longest for a session. One that cannot be read
// does not hold: everything is enforced.
func (m *Monitor) pauseOf(ctx context.Context, s journal.Session, ring provenance.Ring, at time.Time) floodmark.Pause {
	now := m.cfg.Now()
	if m.pauses.stale(s.Tenant, now, m.cfg.Limits.Poll) {
		if err := m.refreshPauses(ctx, s.Tenant, ring); err != nil {
			return floodmark.Pause{}
		}
	}
	var longest floodmark.Pause
	for _, p := range m.pauses.of(s.Tenant) {
		if (p.Session == "" || p.Session == s.ID) && m.pauses.holds(s.Tenant, p, at, now) && p.Until.After(longest.Until) {
			longest = p
		}
	}
	return longest
}

func (m *Monitor) readPauses(ctx context.Context, tenant string, ring provenance.Ring) ([]floodmark.Pause, error) {
	turn := m.pauses.turn(tenant)
	mem, err := m.read(ctx, journal.Session{Tenant: tenant, ID: Pauses}, ring)
	if err != nil {
		m.pauses.forget(tenant)
		return nil, err
	}
	m.pauses.put(tenant, mem.state.Pauses, m.cfg.Now(), turn)
	return slices.Clone(mem.state.Pauses), nil
}

// pauses are what is known here of the pauses of tenants.
type pauses struct {
	mu    sync.Mutex // guards all below
	known map[string]*knownPauses
	// turns is how often something of a tenant was forgotten: what was read before
	// may be old.
	turns map[string]uint64
	// readings are those under way, by tenant.
	readings map[string]*pauseReading
}

// A knownPauses is what was read of one tenant, and when.
type knownPauses struct {
	list []floodmark.Pause
	read time.Time
	// first is when each was seen first, by a clock that nobody sets; over are
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

func newPauses() *pauses {
	return &pauses{known: map[string]*knownPauses{}, turns: map[string]uint64{}, readings: map[string]*pauseReading{}}
}

// stale reports whether a tenant's pauses have to be read again: another node
// may have written.
func (ps *pauses) stale(tenant string, now time.Time, poll time.Duration) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k := ps.known[tenant]
	return k == nil || k.read.IsZero() || now.Before(k.read) || now.Sub(k.read) >= poll
}

func (ps *pauses) turn(tenant string) uint64 {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.turns[tenant]
}

// put takes in what was read, unless something of the tenant was written since the
// reading began: then nothing is known, and nobody is paused by what was before.
func (ps *pauses) put(tenant string, list []floodmark.Pause, now time.Time, turn uint64) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if turn != ps.turns[tenant] {
		return
	}
	old := ps.known[tenant]
	k := &knownPauses{list: slices.Clone(list), read: now, first: map[pauseKey]time.Time{}, over: map[pauseKey]bool{}}
	for _, p := range list {
		key := keyOf(p)
		k.first[key] = now
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
	ps.known[tenant] = k
}

// forget makes the next one read again. What is over stays over.
func (ps *pauses) forget(tenant string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.turns[tenant]++
	if k := ps.known[tenant]; k != nil {
		k.list, k.read = nil, time.Time{}
	}
}

func (ps *pauses) of(tenant string) []floodmark.Pause {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k := ps.known[tenant]
	if k == nil || len(k.list) == 0 {
		return nil
	}
	return slices.Clone(k.list)
}

// holds reports whether a pause holds by the time that is written down, and by
// the clock that nobody sets.
func (ps *pauses) holds(tenant string, p floodmark.Pause, at, now time.Time) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k := ps.known[tenant]
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

func (ps *pauses) tenants() []string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var list []string
	for name, k := range ps.known {
		if len(k.list) > 0 {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
