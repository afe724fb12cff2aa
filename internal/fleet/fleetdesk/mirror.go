package fleetdesk

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// Mirrored implements [httpapi.Machines].
func (d Desk) Mirrored(ctx context.Context, who httpapi.Identity, r *wire.MirroredRequest) (*wire.MirroredResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	if len(r.GetSessions()) > machines.MaxHeads {
		return nil, fmt.Errorf("%w: %d sessions at once, at most %d", httpapi.ErrInvalid, len(r.GetSessions()), machines.MaxHeads)
	}
	leave, err := d.Enter(ctx, who, hookframe.Size(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	names := make([]floodmark.SessionID, len(r.GetSessions()))
	for i, s := range r.GetSessions() {
		names[i] = floodmark.SessionID(s)
	}
	links, err := d.Book.Heads(ctx, who.Tenant, machines.ID(who.Machine), names)
	if err != nil {
		return nil, d.worded(err)
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
func (d Desk) Upload(ctx context.Context, who httpapi.Identity, r *wire.UploadRequest) (*wire.UploadResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	leave, err := d.Enter(ctx, who, hookframe.Size(ctx))
	if err != nil {
		return nil, err
	}
	defer leave()
	one, _, err := d.Book.Find(ctx, machines.ID(who.Machine))
	if err != nil {
		return nil, d.worded(err)
	}
	u, err := machines.ReadUpload(one, r)
	if err != nil {
		return nil, d.bad(ctx, who, err)
	}
	outcome, head, err := d.Book.Add(ctx, who.Tenant, one.ID, u, d.Now())
	if err != nil {
		return nil, d.worded(err)
	}
	if outcome == machines.Fork {
		text := fmt.Sprintf("machine %s (%q) sent something else than before for session %q, up to entry %d: its journal was changed, or put back from a copy", one.ID, one.Name, u.Session, u.Last().Seq)
		if err := d.written(ctx, who.Tenant, "machine-forked", text); err != nil {
			return nil, err
		}
	}
	return &wire.UploadResponse{Head: headOf(head), Outcome: string(outcome)}, nil
}

// bad refuses an upload that no laptop's journal can contain, and records it as an incident.
func (d Desk) bad(ctx context.Context, who httpapi.Identity, err error) error {
	said := d.written(ctx, who.Tenant, "machine-broken", fmt.Sprintf("machine %s sent entries that no journal can hold: %v", who.Machine, err))
	return errors.Join(fmt.Errorf("%w: %w", httpapi.ErrInvalid, err), said)
}
