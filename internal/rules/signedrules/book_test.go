package signedrules

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/provenance"
)

const (
	firstRules  = "version: 1\nprofile: coding\n"
	secondRules = "version: 1\nprofile: assistant\n"
)

// bookOf returns a book that has not read anything yet, for tenants with the tests' author, and how
// far its clock is ahead.
func bookOf(t *testing.T, store bundle.Store, tenants ...string) (*Book, *atomic.Int64) {
	t.Helper()
	ahead := &atomic.Int64{}
	b, err := newBook(Options{
		Store: store, Tenants: tenants,
		Settings: func(string) *config.Bundles {
			return &config.Bundles{Keys: []string{bundle.FormatKey(bundletest.Keys()[0])}}
		},
		Reader: config.NewReader(),
		Own: func() (*catalog.File, error) {
			return catalog.Parse("this installation", []byte(`{"paths":{"selfProtected":["/here/**"]}}`))
		},
		Key: func(tenant string) (key provenance.Key, err error) {
			if copy(key[:], tenant) == 0 {
				err = errors.New("no key")
			}
			return key, err
		},
		Now: func() time.Time { return bundletest.At().Add(time.Duration(ahead.Load())) },
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b, ahead
}

// sealed is a version of acme's rules that holds for a month.
func sealed(t *testing.T, version uint64, text string) []byte {
	t.Helper()
	b := bundletest.Bundle("acme", version)
	b.Policy = []byte(text)
	return bundletest.Sealed(t, b)
}

func hashOf(t *testing.T, text string) floodmark.Digest {
	t.Helper()
	r, err := config.BundleRules("policy.yaml", []byte(text), true)
	if err != nil {
		t.Fatal(err)
	}
	return r.Policy.Hash()
}

// A store that was set back is not trusted. The last known rules stay in force for a while, and
// then strict rules.
func TestAStoreThatWasSetBackIsNotBelieved(t *testing.T) {
	good, low := &bundle.Memory{}, &bundle.Memory{}
	raised := bundletest.Rollout("acme", 2, 1)
	raised.Floor = 1
	err := errors.Join(good.Publish(t.Context(), sealed(t, 1, firstRules)), good.Roll(t.Context(), bundletest.Rollout("acme", 1, 1)), good.Roll(t.Context(), raised))
	for v := range uint64(3) {
		err = errors.Join(err, low.Publish(t.Context(), sealed(t, v+1, secondRules)), low.Roll(t.Context(), bundletest.Rollout("acme", v+1, 1)))
	}
	if err != nil {
		t.Fatal(err)
	}
	b, ahead := bookOf(t, good, "acme")
	b.Look(t.Context(), "acme")
	for name, store := range map[string]bundle.Store{"an empty store": &bundle.Memory{}, "a floor that sank": low} {
		b.opts.Store = store
		b.Look(t.Context(), "acme")
		if r, err := b.Rules("acme", "s"); err != nil || r.Policy.Hash() != hashOf(t, firstRules) {
			t.Errorf("%s is believed: %v", name, err)
		}
	}
	ahead.Store(int64(staleAt + time.Second))
	if r, err := b.Rules("acme", "s"); !errors.Is(err, ErrUnasked) || r.Policy.Hash() != hashOf(t, config.StrictPolicy) {
		t.Errorf("what nobody could ask for holds: %v", err)
	}
}

// An agent that chooses the name of its session does not know which rules it gets:
// the same names are drawn otherwise with another key.
func TestTheDrawNeedsTheKey(t *testing.T) {
	b, _ := bookOf(t, &bundle.Memory{}, "acme", "other")
	mine, err := b.subject("acme", "s")
	yours, err2 := b.subject("other", "s")
	if errors.Join(err, err2) != nil || mine == yours || strings.Contains(mine, "s") || len(mine) != 64 {
		t.Errorf("%s, %s, %v, %v", mine, yours, err, err2)
	}
	if _, err := b.subject("", "s"); err == nil {
		t.Error("a tenant without a key")
	}
}
