package owner

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// atHome refuses calls that did not come over the owner's own socket, so that no token and no agent
// can make a laptop join or leave a fleet.
func (d *Desk) atHome(who httpapi.Identity) error {
	if who.Channel != httpapi.OwnerSocket || d.Fleet == nil {
		return connect.NewError(connect.CodeFailedPrecondition,
			errors.New("a laptop joins and leaves a fleet by its own owner, at its own socket; it cannot be asked for over the network"))
	}
	return nil
}

// Join implements [httpapi.Owner].
func (d *Desk) Join(ctx context.Context, who httpapi.Identity, r *wire.JoinRequest) (*wire.JoinResponse, error) {
	if err := d.atHome(who); err != nil {
		return nil, err
	}
	return d.Fleet.Join(ctx, who.Name, r)
}

// Leave implements [httpapi.Owner].
func (d *Desk) Leave(ctx context.Context, who httpapi.Identity, _ *wire.LeaveRequest) (*wire.LeaveResponse, error) {
	if err := d.atHome(who); err != nil {
		return nil, err
	}
	return d.Fleet.Leave(ctx, who.Name)
}
