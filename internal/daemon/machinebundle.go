package daemon

import (
	"context"

	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// bundleKeys are those of the authors whose bundles a tenant's laptops believe.
func (d *Daemon) bundleKeys(string) []string { return nil }

// FetchBundle implements [httpapi.Machines].
func (m machineDesk) FetchBundle(context.Context, httpapi.Identity, *wire.FetchBundleRequest) (*wire.FetchBundleResponse, error) {
	return &wire.FetchBundleResponse{}, nil
}
