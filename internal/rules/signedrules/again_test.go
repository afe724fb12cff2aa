package signedrules

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
)

// A heldStore calls a function at the first request for a rollout.
type heldStore struct {
	bundle.Store
	asked atomic.Bool
	first func() error
}

func (s *heldStore) Now(ctx context.Context, tenant string) (bundle.Rollout, error) {
	if s.asked.CompareAndSwap(false, true) {
		if err := s.first(); err != nil {
			return bundle.Rollout{}, err
		}
	}
	return s.Store.Now(ctx, tenant)
}

// A moved is a book for acme on an installation whose files a test changes.
type moved struct {
	*Book
	t   *testing.T
	lie atomic.Pointer[catalog.File]
}

func newMoved(t *testing.T) *moved {
	t.Helper()
	store := &bundle.Memory{}
	m := &moved{t: t}
	m.Book, _ = bookOf(t, store, "acme")
	m.opts.Own = func() (*catalog.File, error) { return m.lie.Load(), nil }
	m.move("/before/**")
	if err := errors.Join(m.restrict(), store.Publish(t.Context(), sealed(t, 1, firstRules)), store.Roll(t.Context(), bundletest.Rollout("acme", 1, 1))); err != nil {
		t.Fatal(err)
	}
	m.Look(t.Context(), "acme")
	return m
}

func (m *moved) move(place string) {
	m.t.Helper()
	file, err := catalog.Parse("this installation", []byte(`{"paths":{"selfProtected":["`+place+`"]}}`))
	if err != nil {
		m.t.Fatal(err)
	}
	m.lie.Store(file)
}

// guards returns the digest of the catalog that acme is judged by.
func (m *moved) guards() floodmark.Digest {
	m.t.Helper()
	r, err := m.Rules("acme", "s")
	if err != nil {
		m.t.Fatal(err)
	}
	return r.Catalog.Hash()
}

// Rules whose reading began before a recompilation of all, and ended after it, do not replace the
// new ones: they would leave unguarded what was connected since.
func TestALateLookBringsNoOldRulesBack(t *testing.T) {
	m := newMoved(t)
	before := m.guards()
	entered, free := make(chan struct{}), make(chan struct{})
	m.opts.Store = &heldStore{Store: m.opts.Store, first: func() error { close(entered); <-free; return nil }}
	var late sync.WaitGroup
	late.Go(func() { m.Look(t.Context(), "acme") })
	<-entered
	m.move("/after/**")
	if err := m.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := m.guards()
	if after == before {
		t.Fatal("it was not compiled anew")
	}
	close(free)
	late.Wait()
	if m.guards() != after {
		t.Error("the old rules are back")
	}
}

// Rules that cannot be read when they should be compiled again are compiled at the next look.
func TestAReloadIsMadeUpFor(t *testing.T) {
	m := newMoved(t)
	before := m.guards()
	m.opts.Store = &heldStore{Store: m.opts.Store, first: func() error { return errors.New("away") }}
	m.move("/after/**")
	if err := m.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m.guards() != before {
		t.Fatal("it was read although the store was away")
	}
	m.Look(t.Context(), "acme")
	if m.guards() == before {
		t.Error("the old rules hold for ever")
	}
}
