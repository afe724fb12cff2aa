package daemon

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
	"github.com/floodmark/floodmark/internal/rules/signedrules"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// believing are settings that believe the author of tests.
func believing() *config.Bundles {
	return &config.Bundles{Keys: []string{bundle.FormatKey(bundletest.Keys()[0])}}
}

// A bundled is a fleet whose tenant acme is judged by bundles, with a clock that a test moves and
// an author who may publish.
type bundled struct {
	*fleet
	ahead  *atomic.Int64
	author wire.OwnerServiceClient
}

func newBundled(t *testing.T) *bundled {
	t.Helper()
	ahead := &atomic.Int64{}
	f := newFleet(t, func(o *Options) {
		o.Service.Tenants = map[string]config.Tenant{"acme": {Bundles: believing()}, "beta": {}, "other": {Bundles: believing()}}
		o.Now = func() time.Time { return now().Add(time.Duration(ahead.Load())) }
	})
	b := &bundled{fleet: f, ahead: ahead}
	b.author = b.by(b.token("acme", "ann", httpapi.MayView|httpapi.MayPolicy)).Owner()
	return b
}

// sealed is a version of acme's rules that holds for a month.
func sealed(t *testing.T, version uint64, text string, change ...func(*bundle.Bundle)) []byte {
	t.Helper()
	b := bundletest.Bundle("acme", version)
	b.Made, b.Policy = now().Truncate(time.Second), []byte(text)
	b.ValidUntil = b.Made.Add(30 * 24 * time.Hour)
	for _, f := range change {
		f(&b)
	}
	return bundletest.Sealed(t, b)
}

func (b *bundled) publish(version uint64, text string) {
	b.t.Helper()
	if _, err := b.author.PublishBundle(b.t.Context(), &wire.PublishBundleRequest{Sealed: sealed(b.t, version, text)}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundled) roll(version uint64, share int32) {
	b.t.Helper()
	if _, err := b.author.RollBundle(b.t.Context(), &wire.RollBundleRequest{Version: version, Share: share}); err != nil {
		b.t.Fatal(err)
	}
	b.look()
}

// look looks until this node knows the rollout that holds: what a look finds is not
// taken if all rules are compiled anew meanwhile, as they are when policy.yaml is read.
func (b *bundled) look() {
	b.t.Helper()
	for {
		now, err := b.d.bundles.Now(b.t.Context(), "acme")
		if err != nil {
			b.t.Fatal(err)
		}
		b.d.signed.Look(b.t.Context(), "acme")
		_, err = b.d.signed.Rules("acme", "s")
		if b.d.signed.Status("acme").Rollout.Serial == now.Serial && !errors.Is(err, signedrules.ErrUnasked) {
			return
		}
	}
}

// under is the policy that a session of a tenant was last judged by.
func (b *bundled) under(tenant, session string) floodmark.Digest {
	b.t.Helper()
	id := floodmark.SessionID(session)
	if _, err := b.d.monitor.Handle(b.t.Context(), tenant, hook.Event{Agent: "openclaw", Session: id, Point: hook.SessionStart}); err != nil {
		b.t.Fatal(err)
	}
	view, err := b.d.monitor.View(b.t.Context(), journal.Session{Tenant: tenant, ID: id})
	if err != nil {
		b.t.Fatal(err)
	}
	return view.State.Policy
}

func hashOf(t *testing.T, text string) floodmark.Digest {
	t.Helper()
	r, err := reader.Bundle("policy.yaml", []byte(text), true)
	if err != nil {
		t.Fatal(err)
	}
	return r.Policy.Hash()
}

const (
	firstRules  = "version: 1\nprofile: coding\n"
	secondRules = "version: 1\nprofile: assistant\n"
	strictRules = "version: 1\nprofile: strict\n"
)

// A tenant with keys and no bundle is judged strictly, one without keys by policy.yaml; then by
// what is rolled out, to some and to all, and back.
func TestBundlesDecide(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	first, second, strict := hashOf(t, firstRules), hashOf(t, secondRules), hashOf(t, strictRules)
	if b.under("acme", "s") != strict || b.under("beta", "s") != b.d.live.Rules().Policy.Hash() {
		t.Fatal("before there is a bundle")
	}
	b.publish(1, firstRules)
	if b.under("acme", "s") != strict {
		t.Fatal("publishing gives nobody anything")
	}
	b.roll(1, bundle.Everybody)
	if b.under("acme", "s") != first || b.under("other", "s") != strict {
		t.Fatal("the first version")
	}
	b.publish(2, secondRules)
	b.roll(2, 2000)
	count := func() (n int) {
		for i := range 200 {
			switch b.under("acme", fmt.Sprint("many-", i)) {
			case second:
				n++
			case first:
			default:
				t.Fatal("neither version")
			}
		}
		return n
	}
	if n := count(); n < 15 || n > 70 {
		t.Errorf("%d of 200 have the version that 20 %% should have", n)
	}
	b.roll(2, bundle.Everybody)
	if n := count(); n != 200 {
		t.Errorf("%d of 200 have the version that all should have", n)
	}
	back, err := b.author.RollBackBundle(t.Context(), &wire.RollBackBundleRequest{})
	if err != nil || back.GetRollout().GetStable() != 1 || fmt.Sprint(back.GetRollout().GetRevoked()) != "[2]" {
		t.Fatalf("%v, %v", back, err)
	}
	if n := count(); n != 0 {
		t.Errorf("%d of 200 have the version that was taken back", n)
	}
	if _, err := b.author.RollBundle(t.Context(), &wire.RollBundleRequest{Version: 2, Share: 1}); err == nil {
		t.Error("what was taken back was rolled out again")
	}
	b.acts("bundle-published", "version 1", "digest "+first.Short(), "ann (token)") // as the list has it
	b.acts("bundle-rolled-out", "version 2 for 20 %", "ann (token)")
	b.acts("bundle-rolled-back", "revoked: [2]", "ann (token)")
}

// acts looks for an author's act in the journal of acme.
func (b *bundled) acts(kind string, parts ...string) {
	b.t.Helper()
	for e, err := range b.d.store.Read(b.t.Context(), journal.Session{Tenant: "acme", ID: monitor.Incidents}, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		found := strings.Contains(string(e.Body), kind+`"`)
		for _, part := range parts {
			found = found && strings.Contains(string(e.Body), part)
		}
		if found {
			return
		}
	}
	b.t.Errorf("the journal does not tell of %s with %v", kind, parts)
}

// When its time is over a version holds no more, and no older one does: strict.
// Status says so before and after.
func TestAnExpiredBundleIsStrict(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	longer := sealed(t, 1, firstRules, func(c *bundle.Bundle) { c.ValidUntil = c.Made.Add(90 * 24 * time.Hour) })
	if _, err := b.author.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: longer}); err != nil {
		t.Fatal(err)
	}
	b.roll(1, bundle.Everybody)
	b.publish(2, secondRules)
	b.roll(2, bundle.Everybody)
	says := func(part string) {
		t.Helper()
		s, err := b.author.Status(t.Context(), &wire.StatusRequest{})
		if err != nil || !strings.Contains(strings.Join(s.GetWarnings(), "\n"), part) {
			t.Errorf("status does not say %q: %v, %v", part, s.GetWarnings(), err)
		}
	}
	if s, err := b.author.Status(t.Context(), &wire.StatusRequest{}); err != nil || len(s.GetWarnings()) != 0 || s.GetPolicy().GetBundle() != "version 2 for all sessions" || s.GetPolicy().GetDigest() != hashOf(t, secondRules).String() {
		t.Errorf("%v, %v", s, err)
	}
	b.ahead.Store(int64(25 * 24 * time.Hour))
	b.look()
	says("version 2 ends at")
	if b.under("acme", "s") != hashOf(t, secondRules) {
		t.Error("it does not hold in its last week")
	}
	b.ahead.Store(int64(31 * 24 * time.Hour))
	b.look()
	if b.under("acme", "s") != hashOf(t, strictRules) {
		t.Error("an expired bundle holds")
	}
	says("the profile strict holds for all sessions: version 2 expired")
	says("(publish a new version, and roll it out)")
	b.acts("bundle-unusable", "version 2 expired")
}

// What got into the store without being usable is never used: the stable version
// holds, or strict, and status says so.
func TestABundleThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	other := ed25519.NewKeyFromSeed([]byte("another key that nobody believes"))
	forged := func(version uint64) []byte {
		c := bundletest.Bundle("acme", version)
		c.ValidUntil = now().Add(time.Hour).Truncate(time.Second)
		c.Made = c.ValidUntil.Add(-2 * time.Hour)
		out, err := c.Seal(other)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, next := range map[string][]byte{
		"a policy that cannot be read": sealed(t, 2, "version: 1\nno such key: 3\n"),
		"one that enforces nothing":    sealed(t, 2, "version: 1\nprofile: dry-run\n"),
		"another author":               forged(2),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBundled(t)
			b.publish(1, firstRules)
			b.roll(1, bundle.Everybody)
			if _, err := b.author.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: next}); err == nil {
				t.Fatal("it was published")
			}
			store := b.d.bundles
			now, err := store.Now(t.Context(), "acme")
			now.Serial, now.Next, now.Share = now.Serial+1, 2, bundle.Everybody
			if err := errors.Join(err, store.Publish(t.Context(), next), store.Roll(t.Context(), now)); err != nil {
				t.Fatal(err)
			}
			b.look()
			if b.under("acme", "s") != hashOf(t, firstRules) {
				t.Error("the stable version does not hold")
			}
			s, err := b.author.Status(t.Context(), &wire.StatusRequest{})
			if err != nil || !strings.Contains(fmt.Sprint(s.GetWarnings()), "version 2 cannot be used, so version 1 holds") {
				t.Errorf("%v, %v", s.GetWarnings(), err)
			}
			now.Serial, now.Stable = now.Serial+1, 0
			if err := store.Roll(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			b.look()
			if b.under("acme", "s") != hashOf(t, strictRules) {
				t.Error("strict does not hold")
			}
		})
	}
}

// What is wrong with a policy is told when it is published, with its place.
func TestAWrongPolicyIsNotPublished(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	for part, bad := range map[string][]byte{
		"policy.yaml:2:1":              sealed(t, 1, "version: 1\nno such key: 3\n"),
		"enforces nothing":             sealed(t, 1, "version: 1\nprofile: dry-run\n"),
		"the next is 1":                sealed(t, 2, firstRules),
		"tenant \"beta\"":              sealed(t, 1, firstRules, func(c *bundle.Bundle) { c.Tenant = "beta" }),
		"expired":                      sealed(t, 1, firstRules, func(c *bundle.Bundle) { c.Made = c.Made.Add(-2 * time.Hour); c.ValidUntil = c.Made.Add(time.Hour) }),
		"it does not begin like one":   []byte("x"),
		"policy.yaml:2:":               sealed(t, 1, "version: 1\n"+strings.Repeat("x", 100_000)),
		"wrong signature":              append(sealed(t, 1, firstRules)[:len(sealed(t, 1, firstRules))-1], 'x'),
		"more than 1048576 bytes":      make([]byte, httpapi.MaxBundleBytes),
		"it is cut off, or something ": append(sealed(t, 1, firstRules), 'x'),
	} {
		if _, err := b.author.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: bad}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("want %q: %v", part, err)
		}
	}
	if last, err := b.d.bundles.Last(t.Context(), "acme"); err != nil || last != 0 {
		t.Errorf("%d, %v", last, err)
	}
}

// No session goes back below the floor of a version that all sessions had.
func TestNobodyIsLedBack(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	b.publish(1, secondRules)
	b.roll(1, bundle.Everybody)
	raised := sealed(t, 2, firstRules, func(c *bundle.Bundle) { c.Floor = 2 })
	if _, err := b.author.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: raised}); err != nil {
		t.Fatal(err)
	}
	b.roll(2, 5000) // a share does not raise the floor: the others still have the first
	b.roll(1, bundle.Everybody)
	b.roll(2, bundle.Everybody)
	for _, try := range []func() error{
		func() error {
			_, err := b.author.RollBundle(t.Context(), &wire.RollBundleRequest{Version: 1, Share: 1})
			return err
		},
		func() error {
			_, err := b.author.RollBackBundle(t.Context(), &wire.RollBackBundleRequest{})
			return err
		},
	} {
		if err := try(); err == nil {
			t.Error("led back to the first version")
		}
	}
}

// A caller that is late sees what holds by now.
func TestARolloutThatSomebodyElseMade(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	b.publish(1, firstRules)
	b.publish(2, secondRules)
	b.roll(1, bundle.Everybody)
	if _, err := b.author.RollBundle(t.Context(), &wire.RollBundleRequest{Version: 2, Share: 100, After: 7}); err == nil || !strings.Contains(err.Error(), "rollout 1 holds by now") {
		t.Error(err)
	}
	for _, share := range []int32{0, -1, bundle.Everybody + 1} {
		if _, err := b.author.RollBundle(t.Context(), &wire.RollBundleRequest{Version: 2, Share: share}); err == nil {
			t.Errorf("share %d", share)
		}
	}
	for _, version := range []uint64{0, 3, 1 << 63} {
		if _, err := b.author.RollBundle(t.Context(), &wire.RollBundleRequest{Version: version, Share: 1}); err == nil {
			t.Errorf("version %d", version)
		}
	}
}

// A tenant that has its rules read again does not have others' compiled again.
func TestReloadIsForOnesOwnBundles(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	theirs := b.by(b.token("other", "bob", httpapi.MayView|httpapi.MayPolicy)).Owner()
	text := sealed(t, 1, firstRules, func(x *bundle.Bundle) { x.Tenant = "other" })
	if _, err := theirs.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: text}); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.RollBundle(t.Context(), &wire.RollBundleRequest{Version: 1, Share: bundle.Everybody}); err != nil {
		t.Fatal(err)
	}
	before, err := b.d.signed.Rules("other", "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.author.ReloadPolicy(t.Context(), &wire.ReloadPolicyRequest{}); err != nil {
		t.Fatal(err)
	}
	if after, err := b.d.signed.Rules("other", "s"); err != nil || after.Policy != before.Policy {
		t.Errorf("the rules of another tenant were compiled again, %v", err)
	}
}

// Every call by every role of other tenants: nothing of acme's rules is told, and
// nothing of them changes.
func TestBundlesAreApart(t *testing.T) {
	t.Parallel()
	b := newBundled(t)
	text := firstRules + "# " + hiddenCanary + "\n"
	if _, err := b.author.PublishBundle(t.Context(), &wire.PublishBundleRequest{Sealed: sealed(t, 1, text, func(c *bundle.Bundle) { c.Note = hiddenCanary })}); err != nil {
		t.Fatal(err)
	}
	b.roll(1, bundle.Everybody)
	mine, err := b.author.ShowBundle(t.Context(), &wire.ShowBundleRequest{Version: 1})
	if err != nil || !sings(string(mine.GetPolicy()), hiddenCanary) {
		t.Fatalf("%v, %v", mine, err)
	}
	next := sealed(t, 2, secondRules)
	for _, tenant := range []string{"beta", "other", "", "ghost"} {
		for _, may := range []httpapi.May{httpapi.MayEvents, httpapi.MayView, httpapi.MayApprove, httpapi.MayPolicy, httpapi.MayAdmin, httpapi.OwnerMay} {
			token := b.token(tenant, "stranger", may)
			for _, m := range methods() {
				if !strings.Contains(string(m.Name()), "Bundle") && m.Name() != "Status" {
					continue
				}
				b.stranger(m, tenant, token, may, []byte(`{}`), 0)
			}
			o := b.by(token).Owner()
			for _, err := range tries(t.Context(), o, next) {
				if err == nil {
					t.Errorf("%s of %q did something", may, tenant)
				}
			}
		}
	}
	now, err := b.d.bundles.Now(t.Context(), "acme")
	last, err2 := b.d.bundles.Last(t.Context(), "acme")
	if errors.Join(err, err2) != nil || now.Serial != 1 || last != 1 {
		t.Errorf("%+v, %d, %v, %v", now, last, err, err2)
	}
	// The roles of acme itself.
	for may, want := range map[httpapi.May]bool{httpapi.MayView: false, httpapi.MayApprove: false, httpapi.MayAdmin: false, httpapi.MayEvents: false, httpapi.MayPolicy: true} {
		_, err := b.by(b.token("acme", "x", may)).Owner().ShowBundle(t.Context(), &wire.ShowBundleRequest{Version: 1})
		if (err == nil) != want {
			t.Errorf("%s: %v", may, err)
		}
	}
}

// tries are a stranger's attempts on another tenant's rules.
func tries(ctx context.Context, o wire.OwnerServiceClient, next []byte) []error {
	_, publish := o.PublishBundle(ctx, &wire.PublishBundleRequest{Sealed: next})
	_, roll := o.RollBundle(ctx, &wire.RollBundleRequest{Version: 1, Share: 1})
	_, back := o.RollBackBundle(ctx, &wire.RollBackBundleRequest{})
	_, show := o.ShowBundle(ctx, &wire.ShowBundleRequest{Version: 1})
	return []error{publish, roll, back, show}
}
