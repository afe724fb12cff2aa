package owner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Bundles gives access to the signed rules of all tenants.
type Bundles struct {
	Store bundle.Store
	// Settings returns a tenant's settings; nil if the tenant has no bundles.
	Settings func(tenant string) *config.Bundles
	// Compile compiles a tenant's policy. The error says what is wrong, and where.
	Compile func(tenant string, text []byte) (config.Rules, error)
	// Look makes this node see a rollout at once.
	Look func(ctx context.Context, tenant string)
}

// The default and the maximum of the versions in one list.
const (
	usualBundles = 20
	maxBundles   = 100
)

// bundlesOf returns the settings of the caller's tenant.
func (d *Desk) bundlesOf(who httpapi.Identity) (*config.Bundles, error) {
	if d.Signed != nil {
		if set := d.Signed.Settings(who.Tenant); set != nil {
			return set, nil
		}
	}
	return nil, fmt.Errorf("%w: no author of bundles is believed here; write bundles: {keys: […]} into service.yaml, with the key that «floodmark fleet bundle key» shows", httpapi.ErrInvalid)
}

// Bundles implements [httpapi.Owner].
func (d *Desk) Bundles(ctx context.Context, who httpapi.Identity, r *wire.BundlesRequest) (*wire.BundlesResponse, error) {
	set, err := d.bundlesOf(who)
	if err != nil {
		return nil, err
	}
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = usualBundles
	}
	if limit < 0 || limit > maxBundles {
		return nil, fmt.Errorf("%w: limit: want 0 to %d", httpapi.ErrInvalid, maxBundles)
	}
	now, err := d.Signed.Store.Now(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	last, err := d.Signed.Store.Last(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	out := &wire.BundlesResponse{Rollout: rolloutOf(now), Last: last, Tenant: who.Tenant}
	v := last
	if r.GetBefore() > 0 {
		v = min(last, r.GetBefore()-1)
	}
	for ; v > 0 && len(out.GetBundles()) < limit; v-- {
		one, _, err := d.version(ctx, who, set, now, v)
		if err != nil {
			return nil, err
		}
		out.Bundles = append(out.Bundles, one)
	}
	out.More = v > 0
	return out, nil
}

// version reads one version and describes it, including its errors.
func (d *Desk) version(ctx context.Context, who httpapi.Identity, set *config.Bundles, now bundle.Rollout, v uint64) (*wire.Bundle, bundle.Bundle, error) {
	sealed, err := d.Signed.Store.Get(ctx, who.Tenant, v)
	if errors.Is(err, bundle.ErrNone) {
		return nil, bundle.Bundle{}, fmt.Errorf("%w: there is no version %d; «floodmark fleet bundle list» shows them", httpapi.ErrNotFound, v)
	}
	if err != nil {
		return nil, bundle.Bundle{}, err
	}
	b, err := bundle.Open(sealed, set.Believed())
	if err == nil {
		err = b.Usable(who.Tenant, v, now.Floor, d.Now())
	}
	out := d.described(who, b, sealed, err)
	out.Version = v
	for _, s := range now.Shares() {
		if s.Version == v {
			out.Share = int32(s.Share)
		}
	}
	if slices.Contains(now.Revoked, v) {
		out.Why = "revoked"
	}
	return out, b, nil
}

// described describes a bundle. wrong is why it cannot be used, or nil.
func (d *Desk) described(who httpapi.Identity, b bundle.Bundle, sealed []byte, wrong error) *wire.Bundle {
	out := &wire.Bundle{Version: b.Version, Floor: b.Floor, Note: b.Note, Signer: bundle.FormatKey(bundle.Signer(sealed))}
	if b.Version > 0 {
		out.Made, out.ValidUntil = timestamppb.New(b.Made), timestamppb.New(b.ValidUntil)
		rules, err := d.Signed.Compile(who.Tenant, b.Policy)
		if err == nil {
			out.Digest = rules.Policy.Hash().String()
		} else if wrong == nil {
			wrong = err
		}
	}
	if wrong != nil {
		out.Why = wrong.Error()
	}
	return out
}

// ShowBundle implements [httpapi.Owner].
func (d *Desk) ShowBundle(ctx context.Context, who httpapi.Identity, r *wire.ShowBundleRequest) (*wire.ShowBundleResponse, error) {
	set, err := d.bundlesOf(who)
	if err != nil {
		return nil, err
	}
	now, err := d.Signed.Store.Now(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	one, b, err := d.version(ctx, who, set, now, r.GetVersion())
	if err != nil {
		return nil, err
	}
	return &wire.ShowBundleResponse{Bundle: one, Policy: b.Policy}, nil
}

// PublishBundle implements [httpapi.Owner]. It refuses an unusable bundle.
func (d *Desk) PublishBundle(ctx context.Context, who httpapi.Identity, r *wire.PublishBundleRequest) (*wire.PublishBundleResponse, error) {
	set, err := d.bundlesOf(who)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Open(r.GetSealed(), set.Believed())
	switch {
	case errors.Is(err, bundle.ErrUnknownKey):
		return nil, fmt.Errorf("%w: %w; add that key to bundles in service.yaml if you believe its author", httpapi.ErrInvalid, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	case b.Tenant != who.Tenant:
		return nil, fmt.Errorf("%w: it was made for tenant %q, and you are of %q; a person of that tenant who may do this publishes it, with --fleet or with a token of theirs", httpapi.ErrInvalid, b.Tenant, who.Tenant)
	}
	last, err := d.Signed.Store.Last(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	if b.Version != last+1 {
		return nil, fmt.Errorf("%w: it is version %d, and the next is %d; make it again", httpapi.ErrInvalid, b.Version, last+1)
	}
	if err := b.Usable(who.Tenant, b.Version, 0, d.Now()); err != nil {
		return nil, fmt.Errorf("%w: %w; make it again", httpapi.ErrInvalid, err)
	}
	rules, err := d.Signed.Compile(who.Tenant, b.Policy)
	if err != nil {
		return nil, fmt.Errorf("%w: the policy is wrong: %w", httpapi.ErrInvalid, err)
	}
	out := &wire.PublishBundleResponse{Bundle: d.described(who, b, r.GetSealed(), nil)}
	text := fmt.Sprintf("version %d of the rules, digest %s, signed by %s", b.Version, rules.Policy.Hash().Short(), out.GetBundle().GetSigner())
	return out, d.act(ctx, who, "bundle-published", text, func() error { return d.Signed.Store.Publish(ctx, r.GetSealed()) })
}

// act records in the journal what the caller is about to do, and then does it, so that nothing is
// done without a record. If it fails, that is recorded, too.
func (d *Desk) act(ctx context.Context, who httpapi.Identity, kind, text string, do func() error) error {
	at := journal.Session{Tenant: who.Tenant, ID: monitor.Incidents}
	if err := d.Monitor.Note(ctx, at, floodmark.IncidentSeen{Kind: kind, Text: text + ", by " + byOf(who)}); err != nil {
		return err
	}
	err := do()
	if err == nil {
		d.Signed.Look(ctx, who.Tenant)
		return nil
	}
	noted := d.Monitor.Note(context.WithoutCancel(ctx), at, floodmark.IncidentSeen{Kind: kind + "-not", Text: text + ": it is not known to have happened"})
	if errors.Is(err, bundle.ErrConflict) {
		return fmt.Errorf("%w: %w; look with «floodmark fleet bundle list», then try again", httpapi.ErrInvalid, err)
	}
	return errors.Join(err, noted)
}

// byOf returns the caller's name and channel on one line of printable characters.
func byOf(who httpapi.Identity) string {
	const most = 200
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(who.Name, ""))
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	return fmt.Sprintf("%s (%s)", name, who.Channel)
}

func rolloutOf(r bundle.Rollout) *wire.Rollout {
	out := &wire.Rollout{Serial: r.Serial, Stable: r.Stable, Next: r.Next, Share: int32(r.Share), Floor: r.Floor, Revoked: r.Revoked, By: r.By}
	if r.Serial > 0 {
		out.At = timestamppb.New(r.At)
	}
	return out
}

// seconds returns a time in the precision of bundles.
func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
