package owner

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/teams"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/story/tape"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Teams holds the repositories of the owner's teams on this machine, and the disk they are on.
type Teams struct {
	Disk  *workspace.Disk
	Store *teams.Store
}

// NewTeams reads the list of the repositories. A repository that cannot be read is treated as a
// stranger's.
func NewTeams(dir, home string, now func() time.Time) *Teams {
	store, _ := teams.Open(dir, home, now)
	return &Teams{Store: store, Disk: workspace.New(workspace.Options{Home: home, Teams: store})}
}

// Look returns the disk for the monitor.
func (t *Teams) Look() monitor.Disk { return tape.Watched(t.Disk) }

// Door returns hooks that fetch a team's repository, if necessary, before an event in its checkout
// is judged. See [teams.Door].
func (t *Teams) Door(next teams.Hooks, view func(context.Context, journal.Session) (monitor.View, error)) teams.Hooks {
	if t == nil {
		return next
	}
	return &teams.Door{Hooks: tape.Tapes(next), Store: t.Store, Behind: t.Disk.Behind, Project: func(ctx context.Context, tenant string, ev hook.Event) string {
		if v, err := view(ctx, journal.Session{Tenant: tenant, ID: ev.Session}); err == nil && v.State.Project != "" {
			return v.State.Project
		}
		return ev.Project
	}}
}

// Trust implements [httpapi.Owner].
func (d *Desk) Trust(ctx context.Context, who httpapi.Identity, r *wire.TrustRequest) (*wire.TrustResponse, error) {
	if d.Teams == nil {
		return nil, fmt.Errorf("%w: this monitor does not look at the disk that agents work on", httpapi.ErrInvalid)
	}
	if r.GetPath() == "" {
		return listed(d.Teams.Store.List()), nil
	}
	if !httpapi.Present(ctx, who) {
		return nil, fmt.Errorf("%w: only a person at a terminal of this machine can do this; a script cannot", httpapi.ErrInvalid)
	}
	root, address, ok := workspace.Origin(d.Teams.Disk.Resolve(r.GetPath()))
	if !ok {
		return nil, fmt.Errorf("%w: %s is in no checkout that has a remote called origin", httpapi.ErrInvalid, r.GetPath())
	}
	if r.GetEnd() {
		if err := d.Teams.Store.End(root); err != nil {
			return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
		}
		return &wire.TrustResponse{}, nil
	}
	one, err := d.Teams.Store.Add(ctx, root, address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	return listed([]teams.Repository{one}), nil
}

func listed(list []teams.Repository) *wire.TrustResponse {
	out := &wire.TrustResponse{}
	for _, r := range list {
		out.Repositories = append(out.Repositories, &wire.TeamRepository{
			Path: r.Path, Address: r.Address, First: r.First, Tip: r.Tip, Fetched: timestamppb.New(r.Fetched), Since: timestamppb.New(r.Since),
		})
	}
	return out
}
