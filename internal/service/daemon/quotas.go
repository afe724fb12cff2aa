package daemon

import (
	"context"
	"errors"
	"runtime"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/fleet/quota"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/monitor"
)

// openQuotas makes the gates that admit events and laptops, if service.yaml names tenants. Without
// them there is one tenant only, which shares the monitor with no other.
func (d *Daemon) openQuotas() {
	if len(d.opts.Service.Tenants) == 0 {
		return
	}
	limits := map[string]quota.Limits{}
	for name, t := range d.opts.Service.Tenants {
		limits[name] = limitsOf(t.Quota)
	}
	d.quotas = quota.NewGate(limits, quota.UsualTurns(runtime.GOMAXPROCS(0)), d.opts.Now)
	d.laptopQuotas = quota.NewGate(limits, quota.UsualTurns(runtime.GOMAXPROCS(0)), d.opts.Now)
}

// limitsOf converts a quota of service.yaml.
func limitsOf(q config.Quota) quota.Limits {
	return quota.Limits{Events: q.Events, Bytes: q.Bytes, Sessions: q.Sessions, Questions: q.Questions, InFlight: q.InFlight}
}

// enter admits an event when it is its tenant's turn. Over quota, the event is refused, which
// restricts, and the reply says so.
func (d *Daemon) enter(ctx context.Context, tenant string, ev hook.Event) (leave func(), err error) {
	if d.quotas == nil || !d.opts.Service.HasTenant(tenant) {
		return func() {}, nil // an unknown caller is refused later
	}
	leave, err = d.quotas.Enter(ctx, tenant, ev.Session, hookframe.Size(ctx))
	if !errors.Is(err, quota.ErrOver) {
		return leave, err
	}
	d.notes.add(tenant, "over-quota", err.Error(), d.opts.Now())
	d.notes.add("", "over-quota", "tenant "+tenant+": "+err.Error(), d.opts.Now())
	return nil, &monitor.Refusal{
		Reason: "your tenant is " + err.Error(), Hint: "Try again in a moment; the operator of this monitor can raise the quota under tenants in service.yaml.", Err: err,
	}
}

// questions returns how many questions of a tenant may wait.
func (d *Daemon) questions(tenant string) int {
	if d.quotas == nil {
		return 0
	}
	return d.quotas.Questions(tenant)
}

// shares returns each tenant's share of the budget of bytes in flight.
func (d *Daemon) shares(whole *hookframe.Budget) func(httpapi.Identity) *hookframe.Budget {
	all := map[string]*hookframe.Budget{}
	for name, t := range d.opts.Service.Tenants {
		all[name] = whole.Share(limitsOf(t.Quota).Filled().InFlight)
	}
	return func(who httpapi.Identity) *hookframe.Budget { return all[who.Tenant] }
}
