package daemon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/provenance"
)

const (
	bundleEvery  = 2 * time.Second  // how often it is looked for another rollout
	bundleWithin = 5 * time.Second  // one look
	bundleStale  = 30 * time.Second // how long a look counts: what was revoked meanwhile must end
	bundleFirst  = 10 * time.Second // for the first look at all tenants, before anybody is answered

	bundlesAtOnce = 8 // tenants that are looked at together then
)

// bundles are the rules of tenants that are judged by what their authors signed.
// Whoever has no bundle that holds is judged by the profile strict.
type bundles struct {
	store    bundle.Store
	settings func(tenant string) *config.Bundles
	tenants  []string                             // those that are judged by bundles
	own      func() (*catalog.File, error)        // where this installation lies
	key      func(string) (provenance.Key, error) // of a tenant
	now      func() time.Time
	log      *slog.Logger
	// read compiles a policy: [config.BundleRules], but for tests.
	read func(name string, text []byte, dryRun bool, more ...*catalog.File) (config.Rules, error)
	// wrong is told, once, that something should be looked at.
	wrong func(tenant, text string)

	mu       sync.RWMutex // guards all below
	turn     uint64       // how often all was to be compiled anew: what began before is old
	strict   config.Rules
	of       map[string]*held
	compiled map[floodmark.Digest]config.Rules // by the policy's text
	size     int                               // of what is compiled, as maxCompiled counts
	told     map[string]string                 // what wrong was told of each tenant

	// compiling is held while a policy of a tenant is compiled: however many its people
	// publish or list at once, it takes one core. The map does not change.
	compiling map[string]*sync.Mutex
}

// held is what is known here of one tenant.
type held struct {
	rollout  bundle.Rollout
	versions map[uint64]opened // those of the rollout
	turn     uint64            // when they were compiled
	read     time.Time         // when the store was last asked and answered
	failed   string            // why it did not answer since
}

// An opened is a version that was read, or why it cannot be used.
type opened struct {
	bundle bundle.Bundle
	rules  config.Rules
	err    error
}

// openBundles begins to look for bundles, if service.yaml has keys for some.
func (d *Daemon) openBundles(ctx context.Context) error {
	var tenants []string
	for _, t := range append([]string{""}, d.opts.Service.TenantNames()...) {
		if d.opts.Service.BundlesOf(t) != nil {
			tenants = append(tenants, t)
		}
	}
	if len(tenants) == 0 {
		return nil
	}
	b := d.newBundles(tenants)
	if err := b.restrict(); err != nil {
		return err
	}
	d.bundles = b
	ctx, cancel := context.WithTimeout(ctx, bundleFirst)
	defer cancel()
	d.bundles.refreshAll(ctx) // who is not known yet is judged strictly
	return nil
}

// newBundles knows nothing yet. They lie where the journal does.
func (d *Daemon) newBundles(tenants []string) *bundles {
	b := &bundles{
		store: bundle.NewFolder(d.opts.Paths.Bundles), settings: d.opts.Service.BundlesOf, tenants: tenants,
		own: d.opts.Paths.Guarded, key: d.key, now: d.opts.Now, log: d.opts.Log, wrong: func(string, string) {}, read: config.BundleRules,
		of: map[string]*held{}, compiled: map[floodmark.Digest]config.Rules{}, told: map[string]string{}, compiling: map[string]*sync.Mutex{},
	}
	for _, t := range tenants {
		b.compiling[t] = &sync.Mutex{}
	}
	if j, ok := d.store.Journal.(interface{ Bundles() bundle.Store }); ok {
		b.store = j.Bundles()
	}
	return b
}

// restrict makes the rules of those who have none.
func (b *bundles) restrict() error {
	places, err := b.own()
	if err != nil {
		return err
	}
	r, err := config.StrictRules(places)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strict = r
	return nil
}

// run looks for other rollouts until ctx ends, for each tenant by itself: nobody
// waits for the rules of another to be read, who may have made that take long.
func (b *bundles) run(ctx context.Context) error {
	if b == nil {
		return nil
	}
	var all sync.WaitGroup
	for i, tenant := range b.tenants {
		all.Go(func() {
			// Not all at once: the store has others to answer.
			first := bundleEvery * time.Duration(i+1) / time.Duration(len(b.tenants))
			for wait := first; sleepFor(ctx, wait); wait = bundleEvery {
				b.refresh(ctx, tenant)
			}
		})
	}
	all.Wait()
	return nil
}

// sleepFor waits, and reports whether ctx let it.
func sleepFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// refreshAll looks once for all tenants, as long as ctx lets it.
func (b *bundles) refreshAll(ctx context.Context) {
	looked := make(chan struct{}, len(b.tenants))
	turns := make(chan struct{}, bundlesAtOnce)
	for _, tenant := range b.tenants {
		go func() {
			defer func() { looked <- struct{}{} }()
			select {
			case turns <- struct{}{}:
				defer func() { <-turns }()
				b.refresh(ctx, tenant)
			case <-ctx.Done():
			}
		}()
	}
	for range b.tenants {
		select {
		case <-looked:
		case <-ctx.Done():
			return
		}
	}
}

// refresh looks which rollout a tenant has now, and reads what it does not know.
func (b *bundles) refresh(ctx context.Context, tenant string) {
	ctx, cancel := context.WithTimeout(ctx, bundleWithin)
	defer cancel()
	at := b.now()
	b.mu.RLock()
	turn := b.turn
	var known held
	if h := b.of[tenant]; h != nil {
		known = *h
	}
	b.mu.RUnlock()
	fresh, err := b.look(ctx, tenant, known, turn)
	fresh.read = at
	if err != nil {
		b.unread(tenant, err)
	} else {
		b.put(tenant, fresh)
	}
	b.complain(tenant)
}

// unread notes that the store did not answer. What is known stays.
func (b *bundles) unread(tenant string, err error) {
	b.mu.Lock()
	var now held
	if h := b.of[tenant]; h != nil {
		now = *h
	}
	news := now.failed != err.Error() // once, if it lasts
	now.failed = err.Error()
	b.of[tenant] = &now
	b.mu.Unlock()
	if news {
		b.log.Warn("look for bundles", "tenant", tenant, "error", err)
	}
}

// put takes in what was read, unless somebody else has read something later
// meanwhile, or all is to be compiled anew since.
func (b *bundles) put(tenant string, fresh held) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.of[tenant]
	if fresh.turn == b.turn && (now == nil || now.rollout.Serial <= fresh.rollout.Serial) {
		b.of[tenant] = &fresh
	}
}

// look reads a tenant's rollout with its versions. What was read before in this turn
// stays: bundles never change.
func (b *bundles) look(ctx context.Context, tenant string, known held, turn uint64) (held, error) {
	r, err := b.store.Now(ctx, tenant)
	if err != nil {
		return held{}, err
	}
	if was := known.rollout; r.Serial < was.Serial || r.Floor < was.Floor {
		return held{}, fmt.Errorf("rollout %d with floor %d follows rollout %d with floor %d: the store was set back", r.Serial, r.Floor, was.Serial, was.Floor)
	}
	fresh := held{rollout: r, versions: map[uint64]opened{}, turn: turn}
	for _, v := range []uint64{r.Stable, r.Next} {
		if v == 0 {
			continue
		}
		one, ok := known.versions[v]
		if !ok || known.turn != turn {
			if one, err = b.fetch(ctx, tenant, v); err != nil {
				return held{}, err
			}
		}
		fresh.versions[v] = one
	}
	if known.rollout.Serial != r.Serial {
		b.log.Info("a rollout of bundles holds", "tenant", tenant, "rollout", r.Serial, "stable", r.Stable, "next", r.Next, "share", r.Share, "by", r.By)
	}
	return fresh, nil
}

// fetch reads a version. An error says that it may work next time; what is wrong
// for good is in what it returns.
func (b *bundles) fetch(ctx context.Context, tenant string, version uint64) (opened, error) {
	at, err := b.here()
	if err != nil {
		return opened{}, err
	}
	sealed, err := b.store.Get(ctx, tenant, version)
	if errors.Is(err, bundle.ErrNone) {
		return opened{err: err}, nil
	}
	if err != nil {
		return opened{}, err
	}
	got, err := bundle.Open(sealed, b.settings(tenant).Believed())
	if err == nil {
		err = got.Usable(tenant, version, 0, got.Made)
	}
	if err != nil {
		return opened{err: err}, nil //nolint:nilerr // said above
	}
	rules, err := b.compile(tenant, got.Policy, at)
	return opened{bundle: got, rules: rules, err: err}, nil
}

// again has everything compiled anew: this installation may lie elsewhere, or
// guard other agents. Until that is done the old rules hold; what cannot be read
// now is tried again with the next look.
func (b *bundles) again(ctx context.Context) error {
	if b == nil {
		return nil
	}
	if err := b.restrict(); err != nil {
		return err
	}
	b.mu.Lock()
	b.turn++
	clear(b.compiled)
	b.size = 0
	b.mu.Unlock()
	for _, tenant := range b.tenants {
		b.refresh(ctx, tenant)
	}
	return nil
}

// subject is what a session is drawn by. It is made with the tenant's key, so
// that an agent which chooses the name of its session does not choose its rules.
func (b *bundles) subject(tenant string, root floodmark.SessionID) (string, error) {
	key, err := b.key(tenant)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write([]byte("floodmark bundle subject 1\x00" + string(root))) // a hash takes all
	return hex.EncodeToString(mac.Sum(nil)), nil
}
