package signedrules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A slowStore takes for ever over the versions of one tenant.
type slowStore struct {
	bundle.Store
	slow string
	free chan struct{}
}

func (s slowStore) Now(ctx context.Context, tenant string) (bundle.Rollout, error) {
	if tenant == s.slow {
		<-s.free
	}
	return s.Store.Now(ctx, tenant)
}

// A tenant whose rules take long to read does not delay the rules of another tenant, neither at the
// start nor later.
func TestSlowRulesHoldUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if testing.Short() {
			t.Skip("minutes with the race detector")
		}
		free := make(chan struct{})
		defer close(free)
		store := slowStore{&bundle.Memory{}, "other", free}
		mine, _ := bookOf(t, store, "other", "acme") // in this order
		roll := func(version uint64, text string) {
			t.Helper()
			if err := store.Publish(t.Context(), sealed(t, version, text)); err != nil {
				t.Fatal(err)
			}
			if err := store.Roll(t.Context(), bundletest.Rollout("acme", version, version)); err != nil {
				t.Fatal(err)
			}
		}
		has := func() string {
			r, err := mine.Rules("acme", "s")
			return fmt.Sprint(r.Policy.Hash(), err)
		}
		want := func(text string) string { return fmt.Sprint(hashOf(t, text), error(nil)) }
		roll(1, firstRules)
		soon, cancel := context.WithTimeout(t.Context(), firstLook)
		mine.refreshAll(soon)
		cancel()
		if got := has(); got != want(firstRules) {
			t.Errorf("after the start it is judged by %s", got)
		}
		roll(2, secondRules)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = mine.Run(ctx) }() // it ends when the slow one does
		time.Sleep(lookEvery)
		synctest.Wait()
		if got := has(); got != want(secondRules) {
			t.Errorf("later it is judged by %s", got)
		}
	})
}

// The cache of compiled policies is bounded by their size.
func TestCompiledPoliciesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes with the race detector")
	}
	mine, _ := bookOf(t, &bundle.Memory{}, "acme")
	at, err := mine.here()
	if err != nil {
		t.Fatal(err)
	}
	pad := make([]byte, maxCompiled/8)
	for i := range pad {
		pad[i] = '#'
	}
	for i := range 20 {
		text := fmt.Appendf(nil, "%s#%d\n%s\n", firstRules, i, pad)
		if _, err := mine.compile("acme", text, at); err != nil {
			t.Fatal(err)
		}
		if n := len(mine.compiled); n > 8 {
			t.Fatalf("%d policies of %d bytes are kept", n, len(text))
		}
	}
}

// However many policies of a tenant are to be compiled at once, it takes one core;
// another tenant does not wait for it.
func TestATenantsRulesAreCompiledOneAtATime(t *testing.T) {
	mine, _ := bookOf(t, &bundle.Memory{}, "acme", "other")
	var running, most atomic.Int64
	began, free := make(chan struct{}, 8), make(chan struct{})
	mine.read = func(name string, text []byte, _ bool, _ ...*catalog.File) (config.Rules, error) {
		if strings.HasPrefix(string(text), "#slow") {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			began <- struct{}{}
			<-free
			running.Add(-1)
		}
		return config.BundleRules(name, text, false)
	}
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			if _, err := mine.compile("acme", fmt.Appendf(nil, "#slow %d\n%s", i%2, firstRules), installed{}); err != nil {
				t.Error(err)
			}
		})
	}
	<-began
	if _, err := mine.compile("other", []byte(firstRules), installed{}); err != nil {
		t.Error(err)
	}
	close(free)
	work.Wait()
	if n := most.Load(); n != 1 || len(began) != 1 {
		t.Errorf("%d at once, %d in all; want 1 and 2", n, len(began)+1)
	}
}

// A timedStore records the context of its last request.
type timedStore struct {
	bundle.Store
	last context.Context
}

func (s *timedStore) Get(ctx context.Context, tenant string, version uint64) ([]byte, error) {
	s.last = ctx
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, tenant, version)
}

// Rules may take longer to compile than the store may take to answer, even if two versions are
// rolled out.
func TestCompilingHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &timedStore{Store: &bundle.Memory{}}
		both := bundletest.Rollout("acme", 1, 1)
		both.Next, both.Share = 2, 5000
		if err := errors.Join(store.Publish(t.Context(), sealed(t, 1, firstRules)), store.Publish(t.Context(), sealed(t, 2, secondRules)), store.Roll(t.Context(), both)); err != nil {
			t.Fatal(err)
		}
		mine, _ := bookOf(t, store, "acme")
		mine.read = func(name string, text []byte, dryRun bool, more ...*catalog.File) (config.Rules, error) {
			<-store.last.Done() // longer than that
			return config.BundleRules(name, text, dryRun, more...)
		}
		mine.Look(t.Context(), "acme")
		if got := mine.Status("acme"); got.Rollout.Serial != 1 || got.Words != "version 1 for 50 % of the sessions, version 2 for 50 % of the sessions" {
			t.Errorf("rollout %d, %s", got.Rollout.Serial, got.Words)
		}
	})
}
