// Package signedrules finds the signed rules that hold for a session: those of the version that its
// tenant's authors rolled out to it. It looks for new rollouts by itself, and it never returns
// unsigned rules: a session without a version that holds is judged by the profile strict. It
// publishes nothing and rolls nothing out; that is done at a [bundle.Store].
package signedrules

import (
	"context"
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
	lookEvery = 2 * time.Second  // how often it looks for another rollout
	within    = 5 * time.Second  // bounds one answer of the store
	staleAt   = 30 * time.Second // how long a look counts: what was revoked meanwhile must end
	firstLook = 10 * time.Second // for the first look at all tenants, before any request is answered

	atOnce = 8 // tenants that are looked at together then
)

// Options are what a [Book] is made of. All are required.
type Options struct {
	Store bundle.Store
	// Tenants are those that are judged by signed rules.
	Tenants []string
	// Settings returns whose signatures count for one of these tenants.
	Settings func(tenant string) *config.Bundles
	Reader   *config.Reader
	// Own returns the files of this installation, which are guarded under any signed policy.
	Own func() (*catalog.File, error)
	// Key returns a tenant's key, which draws which session has which version.
	Key func(tenant string) (provenance.Key, error)
	Now func() time.Time
	Log *slog.Logger
}

// A Book returns the signed rules for sessions of tenants. Nil is the book of a monitor without
// any: [Book.Run], [Book.Again], [Book.TellTo] and [Book.Notes] do nothing then, and no other
// method may be called.
type Book struct {
	opts Options
	// read compiles a policy: [config.Reader.Bundle], but for tests.
	read func(name string, text []byte, dryRun bool, more ...*catalog.File) (config.Rules, error)

	mu sync.RWMutex // guards all below
	// wrong is told, once, that something should be looked at.
	wrong    func(tenant, text string)
	turn     uint64 // counts recompilations of all: what began before is old
	strict   config.Rules
	of       map[string]*held
	compiled map[floodmark.Digest]config.Rules // by the policy's text
	size     int                               // of what is compiled, as maxCompiled counts
	told     map[string]string                 // what wrong was told of each tenant

	// compiling is held while a policy of a tenant is compiled: however many its people
	// publish or list at once, it takes one core. The map does not change.
	compiling map[string]*sync.Mutex
}

// Open makes a book and looks for the rules of all tenants. It waits some seconds at most: a tenant
// whose rules are not read by then is judged strictly until they are.
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

// newBook knows nothing yet.
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

// restrict makes the rules for sessions without a version.
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

// Run looks for new rollouts until ctx ends, for each tenant by itself: no tenant waits for
// another's rules to be read, whose authors may have made that slow.
func (b *Book) Run(ctx context.Context) error {
	if b == nil {
		return nil
	}
	var all sync.WaitGroup
	for i, tenant := range b.opts.Tenants {
		all.Go(func() {
			// Not all at once: the store has others to answer.
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

// refreshAll looks once for all tenants, as long as ctx lets it.
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
