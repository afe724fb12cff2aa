package daemon

import (
	"context"
	"errors"

	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// bundleKeys are those of the authors whose bundles a tenant's laptops believe;
// none if their owners' own policies hold.
func (d *Daemon) bundleKeys(tenant string) []string {
	if set := d.opts.Service.BundlesOf(tenant); set != nil {
		return set.Keys
	}
	return nil
}

// FetchBundle implements [httpapi.Machines]. The node only passes on what an
// author signed; whether to believe it is the laptop's to say.
func (m machineDesk) FetchBundle(ctx context.Context, who httpapi.Identity, r *wire.FetchBundleRequest) (*wire.FetchBundleResponse, error) {
	if m.d.bundles == nil || len(m.d.bundleKeys(who.Tenant)) == 0 {
		return &wire.FetchBundleResponse{}, nil
	}
	leave, err := m.enter(ctx, who, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	rollout, err := m.d.bundles.Now(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	out := &wire.FetchBundleResponse{Version: rollout.For(who.Machine), Rollout: rollout.Serial, Floor: rollout.Floor}
	if out.Version == 0 || out.Version == r.GetHave() {
		return out, nil
	}
	out.Bundle, err = m.d.bundles.Get(ctx, who.Tenant, out.Version)
	if errors.Is(err, bundle.ErrNone) {
		out.Version = 0
		err = nil
	}
	return out, err
}
