package monitor

import (
	"context"

	"github.com/floodmark/floodmark/provenance"
)

// Once in a while a tenant's pauses have to be read again, and then everybody who
// is judged at that moment finds so. One of them reads, the others wait for it:
// a busy node would ask its database hundreds of times for the same.

// A pauseReading is one that is under way.
type pauseReading struct {
	turn uint64 // nothing was forgotten since it began, if this is still the turn
	done chan struct{}
	err  error // set before done is closed
}

// refreshPauses reads a tenant's pauses, or waits for whoever does. A reading that
// began before something was written here does not count, and one that failed is
// tried again by each of those who waited for it.
func (m *Monitor) refreshPauses(ctx context.Context, tenant string, ring provenance.Ring) error {
	r, mine := m.pauses.reading(tenant)
	if !mine {
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.err == nil {
			return nil
		}
		_, err := m.readPauses(ctx, tenant, ring)
		return err
	}
	r.err = errPanicked
	defer m.pauses.readingEnds(tenant, r)
	_, r.err = m.readPauses(ctx, tenant, ring)
	return r.err
}

// reading returns the reading of a tenant's pauses that is under way, or a new one
// that is the caller's to do.
func (ps *pauses) reading(tenant string) (r *pauseReading, mine bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if r := ps.readings[tenant]; r != nil && r.turn == ps.turns[tenant] {
		return r, false
	}
	r = &pauseReading{turn: ps.turns[tenant], done: make(chan struct{})}
	ps.readings[tenant] = r
	return r, true
}

func (ps *pauses) readingEnds(tenant string, r *pauseReading) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.readings[tenant] == r {
		delete(ps.readings, tenant)
	}
	close(r.done)
}
