// Package signedrules finds the signed rules for a session: the version that its tenant's authors
// have rolled out to it. It looks for new rollouts by itself. It never returns unsigned rules: a
// session without a valid version is judged by the profile strict. It does not publish versions or
// roll them out; that is done at a [bundle.Store].
package signedrules

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/provenance"
)

const (
	lookEvery = 2 * time.Second  // how often each tenant's rollout is read
	within    = 5 * time.Second  // bounds the time for one answer of the store
	staleAt   = 30 * time.Second // how long a rollout is used without a newer answer of the store, so that revoked versions end
	firstLook = 10 * time.Second // for the first reading of all tenants, before any request is answered

	atOnce = 8 // tenants that are read at the same time in the first reading
)

// Options are what a [Book] is made of. All are required.
type Options struct {
	Store bundle.Store
	// Tenants are the tenants whose sessions are judged by signed rules.
	Tenants []string
	// Settings returns the settings for one of these tenants, with the keys of its authors.
	Settings func(tenant string) *config.Bundles
	Reader   *config.Reader
	// Own returns catalog entries for the files of this installation, which are guarded under any
	// signed policy.
	Own func() (*catalog.File, error)
	// Key returns a tenant's secret key. It decides which session gets which version.
	Key func(tenant string) (provenance.Key, error)
	Now func() time.Time
	Log *slog.Logger
}

// A Book returns the signed rules for sessions of tenants. It is nil for a monitor without signed
// rules. Then [Book.Run], [Book.Again], [Book.TellTo] and [Book.Notes] do nothing, and no other
// method may be called.
type Book struct {
	opts Options
	// read compiles a policy. It is [config.Reader.Bundle] except in tests.
	read func(name string, text []byte, dryRun bool, more ...*catalog.File) (config.Rules, error)

	mu sync.RWMutex // guards all below
	// wrong is called with each new problem of a tenant's bundles.
	wrong    func(tenant, text string)
	turn     uint64 // counts the calls of Again; what was begun in an earlier turn is out of date
	strict   config.Rules
	of       map[string]*held
	compiled map[floodmark.Digest]config.Rules // by the policy's text
	size     int                               // of compiled, in the unit of maxCompiled
	told     map[string]string                 // the last problem of each tenant that wrong was called with

	// compiling has a lock for each tenant that is held while one of its policies is compiled. So a
	// tenant never takes more than one core, however many policies its people publish or list at
	// the same time. The map does not change.
	compiling map[string]*sync.Mutex
}

// Open makes a book and reads the rules of all tenants. It waits for at most firstLook. A tenant
// whose rules are not read by then is judged by strict rules until they are.
func Open(ctx context.Context, o Options) (*Book, error) {
	b, err := newBook(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	b.refreshAll(ctx)
	return b, nil
}

// newBook returns a book without the rules of any tenant.
func newBook(o Options) (*Book, error) {
	b := &Book{
		opts: o, read: o.Reader.Bundle, wrong: func(string, string) {},
		of: map[string]*held{}, compiled: map[floodmark.Digest]config.Rules{}, told: map[string]string{}, compiling: map[string]*sync.Mutex{},
	}
	for _, t := range o.Tenants {
		b.compiling[t] = &sync.Mutex{}
	}
	return b, b.restrict()
}

// restrict loads the strict rules, for sessions without a valid version.
func (b *Book) restrict() error {
	places, err := b.opts.Own()
	if err != nil {
		return err
	}
	r, err := b.opts.Reader.Strict(places)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strict = r
	return nil
}

// Run looks for new rollouts until ctx ends. It does so for each tenant separately, so that no
// tenant waits for the rules of another, whose authors may have made them slow to read.
func (b *Book) Run(ctx context.Context) error {
	if b == nil {
		return nil
	}
	var all sync.WaitGroup
	for i, tenant := range b.opts.Tenants {
		all.Go(func() {
			// The first looks are spread over lookEvery, to spare the store.
			first := lookEvery * time.Duration(i+1) / time.Duration(len(b.opts.Tenants))
			for wait := first; sleep(ctx, wait); wait = lookEvery {
				b.Look(ctx, tenant)
			}
		})
	}
	all.Wait()
	return nil
}

// sleep waits, and returns false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// refreshAll reads the rollouts of all tenants once, or returns when ctx ends.
func (b *Book) refreshAll(ctx context.Context) {
	looked := make(chan struct{}, len(b.opts.Tenants))
	turns := make(chan struct{}, atOnce)
	for _, tenant := range b.opts.Tenants {
		go func() {
			defer func() { looked <- struct{}{} }()
			select {
			case turns <- struct{}{}:
				defer func() { <-turns }()
				b.Look(ctx, tenant)
			case <-ctx.Done():
			}
		}()
	}
	for range b.opts.Tenants {
		select {
		case <-looked:
		case <-ctx.Done():
			return
		}
	}
}
