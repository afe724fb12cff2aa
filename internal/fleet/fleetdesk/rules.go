package fleetdesk

import (
	"context"
	"errors"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// FetchBundle implements [httpapi.Machines]. The node only sends what an author has signed; the
// laptop verifies the signature.
func (d Desk) FetchBundle(ctx context.Context, who httpapi.Identity, r *wire.FetchBundleRequest) (*wire.FetchBundleResponse, error) {
	if d.Bundles == nil || len(d.Keys(who.Tenant)) == 0 {
		return &wire.FetchBundleResponse{}, nil
	}
	leave, err := d.Enter(ctx, who, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	rollout, err := d.Bundles.Now(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	out := &wire.FetchBundleResponse{Version: rollout.For(who.Machine), Rollout: rollout.Serial, Floor: rollout.Floor}
	if out.Version == 0 || out.Version == r.GetHave() {
		return out, nil
	}
	out.Bundle, err = d.Bundles.Get(ctx, who.Tenant, out.Version)
	if errors.Is(err, bundle.ErrNone) {
		out.Version = 0
		err = nil
	}
	return out, err
}
