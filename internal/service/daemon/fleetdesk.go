package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/fleetdesk"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/quota"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
)

// openMachines opens the book of laptops. A journal in a file has none, because its monitor runs on
// a laptop itself.
func (d *Daemon) openMachines() {
	d.machines = d.opts.Machines
	if j, ok := d.store.Journal.(interface{ Machines() machines.Book }); ok && d.machines == nil {
		d.machines = j.Machines()
	}
	if keep := time.Duration(d.opts.Service.Journal.Keep); d.machines != nil && keep > 0 {
		d.proof.copies = func(ctx context.Context, now time.Time) (int, error) {
			return owner.LetCopiesGo(ctx, d.machines, d.keys.Signing.Signer, now.Add(-keep), now)
		}
	}
}

func (d *Daemon) fleetDesk() fleetdesk.Desk {
	return fleetdesk.Desk{
		Book: d.machines, Bundles: d.bundles, Keys: d.bundleKeys, HasTenant: d.opts.Service.HasTenant,
		Enter: d.enterLaptop, Note: d.note, MayAnswer: d.mayAnswer(), Now: d.opts.Now,
	}
}

// laptopsDesk returns nil if no laptop can join.
func (d *Daemon) laptopsDesk() owner.Laptops {
	if d.machines == nil {
		return nil
	}
	return d.fleetDesk()
}

// bundleKeys returns the keys of the authors whose bundles a tenant's laptops accept. It returns
// none if the policies of the laptops' owners are in effect.
func (d *Daemon) bundleKeys(tenant string) []string {
	if set := d.opts.Service.BundlesOf(tenant); set != nil {
		return set.Keys
	}
	return nil
}

// enterLaptop admits a laptop's request in its turn, within the quota of its tenant. Laptops are
// counted apart from the tenant's agents, so that one laptop cannot keep agents out.
func (d *Daemon) enterLaptop(ctx context.Context, who httpapi.Identity, bytes int64) (leave func(), err error) {
	if d.laptopQuotas == nil || !d.opts.Service.HasTenant(who.Tenant) {
		return func() {}, nil
	}
	leave, err = d.laptopQuotas.Enter(ctx, who.Tenant, floodmark.SessionID("machine/"+cmp.Or(who.Machine, who.Name)), bytes)
	if errors.Is(err, quota.ErrOver) {
		d.notes.add(who.Tenant, "over-quota", "laptops: "+err.Error(), d.opts.Now())
		return nil, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("your tenant's laptops are %w; it is tried again later", err))
	}
	return leave, err
}
