package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// Pauses is the session of every tenant that records what its owner paused. No agent can write to
// it.
const Pauses floodmark.SessionID = "floodmark/pauses"

// maxPauses bounds the pauses of a tenant that are not ended.
const maxPauses = 256

// ErrPause says that the requested pause is not possible.
var ErrPause = errors.New("no such pause")

// Pause stops enforcing decisions for a time: in one session, or in all of a tenant's if s.ID is
// empty. It replaces an earlier pause. The caller has authenticated the owner and vouches for by
// and channel.
func (m *Monitor) Pause(ctx context.Context, s journal.Session, length time.Duration, by, channel string) (floodmark.Pause, error) {
	return m.pause(ctx, s, floodmark.Pause{By: by, Channel: channel}, length)
}

// ObserveOnly is Pause for an owner who evaluates before enforcing: see [floodmark.Pause].
func (m *Monitor) ObserveOnly(ctx context.Context, s journal.Session, length time.Duration, by, channel string) (floodmark.Pause, error) {
	return m.pause(ctx, s, floodmark.Pause{Observe: true, By: by, Channel: channel}, length)
}

func (m *Monitor) pause(ctx context.Context, s journal.Session, p floodmark.Pause, length time.Duration) (floodmark.Pause, error) {
	if length <= 0 || length > p.Most() {
		return floodmark.Pause{}, fmt.Errorf("%w: it takes more than nothing and at most %s", ErrPause, p.Most())
	}
	if s.ID != "" {
		if err := checkNames(s, ""); err != nil {
			return floodmark.Pause{}, err
		}
	}
	err := m.notePause(ctx, s.Tenant, func(st *kernel.State, at time.Time) ([]floodmark.Fact, error) {
		p.Session, p.From, p.Until = s.ID, at, at.Add(length)
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

// Resume ends a pause, expired or not, and reports whether there was one.
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
	m.pauses.Forget(tenant)
	return err
}

// Paused returns the pauses of a tenant that were not ended. That includes expired pauses, because
// what they let through must still be reported.
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

// PauseHolds reports whether a pause that was read here is in effect now. A pause once seen expired
// stays expired, even if the clock is set back.
func (m *Monitor) PauseHolds(tenant string, p floodmark.Pause) bool {
	now := m.cfg.Now()
	return m.pauses.Holds(tenant, p, now.Round(0).UTC(), now)
}

// Pausing returns how many of the pauses that were read here are in effect.
func (m *Monitor) Pausing() int {
	n := 0
	for _, tenant := range m.pauses.Tenants() {
		for _, p := range m.pauses.Of(tenant) {
			if m.PauseHolds(tenant, p) {
				n++
			}
		}
	}
	return n
}

// PausedTenants returns the tenants with pauses that were read and not ended.
func (m *Monitor) PausedTenants() []string { return m.pauses.Tenants() }

// pauseOf returns, of the pauses in effect for a session, the one that ends last. If the pauses
// cannot be read, it returns none and everything is enforced.
func (m *Monitor) pauseOf(ctx context.Context, s journal.Session, ring provenance.Ring, at time.Time) floodmark.Pause {
	now := m.cfg.Now()
	if m.pauses.Stale(s.Tenant, now, m.cfg.Limits.Poll) {
		if err := m.refreshPauses(ctx, s.Tenant, ring); err != nil {
			return floodmark.Pause{}
		}
	}
	var longest floodmark.Pause
	for _, p := range m.pauses.Of(s.Tenant) {
		if (p.Session == "" || p.Session == s.ID) && m.pauses.Holds(s.Tenant, p, at, now) && p.Until.After(longest.Until) {
			longest = p
		}
	}
	return longest
}

func (m *Monitor) readPauses(ctx context.Context, tenant string, ring provenance.Ring) ([]floodmark.Pause, error) {
	turn := m.pauses.Turn(tenant)
	mem, err := m.read(ctx, journal.Session{Tenant: tenant, ID: Pauses}, ring)
	if err != nil {
		m.pauses.Forget(tenant)
		return nil, err
	}
	back := false
	if slices.ContainsFunc(mem.state.Pauses, func(p floodmark.Pause) bool { return p.Observe }) {
		if back, err = m.setBack(ctx, tenant); err != nil {
			m.pauses.Forget(tenant)
			return nil, err
		}
	}
	m.pauses.Put(tenant, mem.state.Pauses, m.cfg.Now(), turn, back)
	return slices.Clone(mem.state.Pauses), nil
}

const (
	lastWritten = 64              // how many sessions are compared with the clock, by their last entry
	clockDrift  = 2 * time.Minute // a clock that is set back by less was only corrected
)

// setBack reports whether the clock is behind the time of the last write. So a pause that only
// observes cannot be extended by setting the clock back, even across restarts.
func (m *Monitor) setBack(ctx context.Context, tenant string) (bool, error) {
	latest, n := m.cfg.Now().Add(clockDrift).UnixNano(), 0
	for h, err := range m.cfg.Journal.Recent(ctx, tenant) {
		if err != nil {
			return false, err
		}
		if n++; h.At > latest || n > lastWritten {
			return h.At > latest, nil
		}
	}
	return false, nil
}

// A tenant's pauses expire from the cache for all its concurrent events at once. One event reads
// them again while the others wait; a busy node would otherwise send its database hundreds of
// identical queries.

// refreshPauses reads a tenant's pauses, or waits for a read already under way. It does not wait
// for a read that began before the latest write here. After a failed read, every waiter tries again
// itself.
func (m *Monitor) refreshPauses(ctx context.Context, tenant string, ring provenance.Ring) error {
	r, mine := m.pauses.Begin(tenant)
	if !mine {
		select {
		case <-r.Done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.Err == nil {
			return nil
		}
		_, err := m.readPauses(ctx, tenant, ring)
		return err
	}
	r.Err = errPanicked
	defer m.pauses.End(tenant, r)
	_, r.Err = m.readPauses(ctx, tenant, ring)
	return r.Err
}
