package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/hookframe"
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// Mirrored implements [httpapi.Machines].
func (m machineDesk) Mirrored(ctx context.Context, who httpapi.Identity, r *wire.MirroredRequest) (*wire.MirroredResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	if len(r.GetSessions()) > machines.MaxHeads {
		return nil, fmt.Errorf("%w: %d sessions at once, at most %d", httpapi.ErrInvalid, len(r.GetSessions()), machines.MaxHeads)
	}
	leave, err := m.enter(ctx, who, hookframe.Size(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	names := make([]floodmark.SessionID, len(r.GetSessions()))
	for i, s := range r.GetSessions() {
		names[i] = floodmark.SessionID(s)
	}
	links, err := m.book.Heads(ctx, who.Tenant, machines.ID(who.Machine), names)
	if err != nil {
		return nil, m.known(err)
	}
	out := &wire.MirroredResponse{Heads: make([]*wire.MirrorHead, len(links))}
	for i, l := range links {
		out.Heads[i] = headOf(l)
	}
	return out, nil
}

func headOf(l journal.Link) *wire.MirrorHead {
	if l.Seq == 0 {
		return &wire.MirrorHead{}
	}
	return &wire.MirrorHead{Seq: l.Seq, Hash: l.Hash[:]}
}

// Upload implements [httpapi.Machines].
func (m machineDesk) Upload(ctx context.Context, who httpapi.Identity, r *wire.UploadRequest) (*wire.UploadResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	leave, err := m.enter(ctx, who, hookframe.Size(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	one, _, err := m.book.Find(ctx, machines.ID(who.Machine))
	if err != nil {
		return nil, m.known(err)
	}
	u, err := machines.ReadUpload(one, r)
	if err != nil {
		return nil, m.bad(ctx, who, err)
	}
	outcome, head, err := m.book.Add(ctx, who.Tenant, one.ID, u, m.d.opts.Now())
	if err != nil {
		return nil, m.known(err)
	}
	if outcome == machines.Fork {
		text := fmt.Sprintf("machine %s (%q) sent something else than before for session %q, up to entry %d: its journal was changed, or put back from a copy", one.ID, one.Name, u.Session, u.Last().Seq)
		if err := m.written(ctx, who.Tenant, "machine-forked", text); err != nil {
			return nil, err
		}
	}
	return &wire.UploadResponse{Head: headOf(head), Outcome: string(outcome)}, nil
}

// bad refuses what no laptop can have written, and writes that down.
func (m machineDesk) bad(ctx context.Context, who httpapi.Identity, err error) error {
	said := m.written(ctx, who.Tenant, "machine-broken", fmt.Sprintf("machine %s sent entries that no journal can hold: %v", who.Machine, err))
	return errors.Join(fmt.Errorf("%w: %w", httpapi.ErrInvalid, err), said)
}
