package owner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// RollBundle implements [httpapi.Owner].
func (d *Desk) RollBundle(ctx context.Context, who httpapi.Identity, r *wire.RollBundleRequest) (*wire.RollBundleResponse, error) {
	set, err := d.bundlesOf(who)
	if err != nil {
		return nil, err
	}
	if r.GetShare() < 1 || r.GetShare() > bundle.Everybody {
		return nil, fmt.Errorf("%w: share: want 0.01 %% to 100 %%; «floodmark fleet bundle rollback» takes a version back", httpapi.ErrInvalid)
	}
	now, err := d.Signed.Store.Now(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	if r.GetAfter() != 0 && r.GetAfter() != now.Serial {
		return nil, fmt.Errorf("%w: rollout %d holds by now, by %s; look with «floodmark fleet bundle list», then try again", httpapi.ErrInvalid, now.Serial, now.By)
	}
	one, b, err := d.version(ctx, who, set, now, r.GetVersion())
	if err != nil {
		return nil, err
	}
	if one.GetWhy() != "" {
		return nil, fmt.Errorf("%w: version %d cannot be used: %s; publish a new one", httpapi.ErrInvalid, r.GetVersion(), one.GetWhy())
	}
	next, err := rolled(now, b, int(r.GetShare()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	if err := d.roll(ctx, who, now, &next, "bundle-rolled-out"); err != nil {
		return nil, err
	}
	return &wire.RollBundleResponse{Rollout: rolloutOf(next), Notice: rolloutText(next)}, nil
}

// rolled returns the rollout that gives a version to a share of the sessions. The other sessions
// keep the version that all had before. A rollout to all sessions raises the floor to that of the
// version.
func rolled(now bundle.Rollout, b bundle.Bundle, share int) (bundle.Rollout, error) {
	next := bundle.Rollout{Stable: now.Stable, Next: b.Version, Share: share, Floor: now.Floor, Revoked: now.Revoked}
	switch {
	case b.Version == now.Stable && share < bundle.Everybody:
		return next, fmt.Errorf("version %d is the stable one: all have it who have no other; name the newer version with a smaller share, or give this one to all", b.Version)
	case b.Version == now.Stable:
		next.Next, next.Share = 0, 0
	case b.Version != now.Next && now.Share == bundle.Everybody:
		next.Stable = now.Next
	}
	if share == bundle.Everybody {
		next.Floor = max(now.Floor, b.Floor)
		if next.Stable < next.Floor || next.Stable == 0 {
			next.Stable, next.Next, next.Share = b.Version, 0, 0
		}
	}
	next.Revoked = slices.DeleteFunc(slices.Clone(now.Revoked), func(v uint64) bool { return v < next.Floor })
	return next, nil
}

// rollBackTries is how often a rollback is tried if another rollout comes first.
const rollBackTries = 3

// RollBackBundle implements [httpapi.Owner]: it gives all sessions the stable version again, and
// revokes the newer one.
func (d *Desk) RollBackBundle(ctx context.Context, who httpapi.Identity, _ *wire.RollBackBundleRequest) (*wire.RollBackBundleResponse, error) {
	if _, err := d.bundlesOf(who); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		now, err := d.Signed.Store.Now(ctx, who.Tenant)
		if err != nil {
			return nil, err
		}
		if now.Next == 0 {
			return nil, fmt.Errorf("%w: there is nothing to take back: all have version %d; «floodmark fleet bundle rollout VERSION» gives all another one, down to version %d",
				httpapi.ErrInvalid, now.Stable, max(now.Floor, 1))
		}
		next := bundle.Rollout{Stable: now.Stable, Floor: now.Floor, Revoked: append(slices.Clone(now.Revoked), now.Next)}
		slices.Sort(next.Revoked)
		err = d.roll(ctx, who, now, &next, "bundle-rolled-back")
		if errors.Is(err, bundle.ErrConflict) && try < rollBackTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &wire.RollBackBundleResponse{Rollout: rolloutOf(next), Notice: rolloutText(next)}, nil
	}
}

// roll stores next as the rollout that follows now, in the caller's name.
func (d *Desk) roll(ctx context.Context, who httpapi.Identity, now bundle.Rollout, next *bundle.Rollout, kind string) error {
	next.Tenant, next.Serial, next.By, next.At = who.Tenant, now.Serial+1, byOf(who), seconds(d.Now())
	if err := next.Check(); err != nil {
		return fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	return d.act(ctx, who, kind, rolloutText(*next), func() error { return d.Signed.Store.Roll(ctx, *next) })
}

// rolloutText describes which share of the sessions has which version.
func rolloutText(r bundle.Rollout) string {
	text := fmt.Sprintf("rollout %d:", r.Serial)
	for i, s := range r.Shares() {
		if i > 0 {
			text += ","
		}
		name := fmt.Sprintf("version %d", s.Version)
		if s.Version == 0 {
			name = "no version, so the profile strict,"
		}
		text += fmt.Sprintf(" %s for %s", name, bundle.Percent(s.Share))
	}
	if len(r.Revoked) > 0 {
		text += fmt.Sprintf("; revoked: %v", r.Revoked)
	}
	return text
}
