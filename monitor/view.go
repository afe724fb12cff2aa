package monitor

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// A View is a session as it is in the journal. It belongs to the caller.
type View struct {
	Session journal.Session
	State   *kernel.State
	Link    journal.Link
	// Erased is the tombstone of an erased past; nil if nothing was erased.
	Erased *journal.Tombstone
}

// View reads a session, checking its chain. It takes no turn in the session and leaves the cache
// alone, so that viewing never slows an agent down.
func (m *Monitor) View(ctx context.Context, s journal.Session) (View, error) {
	if err := m.begin(); err != nil {
		return View{}, refuse(err)
	}
	defer m.done()
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.Deadline)
	defer cancel()
	mem, err := m.look(ctx, s)
	if err != nil {
		return View{}, refuse(err)
	}
	return View{Session: s, State: mem.state, Link: mem.link, Erased: mem.stone}, nil
}

// MarkAt returns the mark of a session if at is its last entry, and otherwise
// [journal.ErrConflict]. It is a [journal.MarkOf], because an erased session keeps its mark.
func (m *Monitor) MarkAt(ctx context.Context, s journal.Session, at journal.Link) (floodmark.Label, error) {
	v, err := m.View(ctx, s)
	if err != nil {
		return floodmark.Label{}, err
	}
	if v.Link != at {
		return floodmark.Label{}, journal.ErrConflict
	}
	return v.State.Mark(), nil
}

// look reads a session that was opened.
func (m *Monitor) look(ctx context.Context, s journal.Session) (memory, error) {
	ring, err := m.ring(s.Tenant)
	if err != nil {
		return memory{}, err
	}
	mem, err := m.read(ctx, s, ring)
	if err != nil {
		return memory{}, err
	}
	if !mem.state.Opened {
		return memory{}, fmt.Errorf("%w: %s", ErrNoSession, s)
	}
	return mem, nil
}

// Forget drops what is remembered of a session, so that the next event reads it again. Call it
// after erasing a session. It does not touch the journal.
func (m *Monitor) Forget(ctx context.Context, s journal.Session) error {
	seat, err := m.seats.enter(ctx, s, false)
	if err != nil {
		return refuse(err)
	}
	seat.drop()
	m.seats.leave(seat)
	return nil
}
