// Package bundletest holds the suite that every store of bundles must pass. It does not test speed.
package bundletest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/rules/bundle"
)

// Key returns an author's key for tests, always the same.
func Key() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte("floodmark: a key for tests only!"))
}

// Keys returns the public keys that trust [Key].
func Keys() []ed25519.PublicKey {
	return []ed25519.PublicKey{ed25519.PublicKey(Key()[ed25519.SeedSize:])}
}

// At is the time of everything in the suite.
func At() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// Bundle returns a version of a tenant's rules with the first version as its floor.
func Bundle(tenant string, version uint64) bundle.Bundle {
	return bundle.Bundle{
		Tenant: tenant, Version: version, Floor: 1, Made: At(), ValidUntil: At().Add(30 * 24 * time.Hour),
		Policy: fmt.Appendf(nil, "version: 1\n# %d\n", version), Note: fmt.Sprintf("version %d", version),
	}
}

// Rollout returns a rollout of a tenant in which all subjects have one version.
func Rollout(tenant string, serial, version uint64) bundle.Rollout {
	return bundle.Rollout{Tenant: tenant, Serial: serial, Stable: version, By: "an author", At: At()}
}

// Sealed seals a bundle.
func Sealed(t *testing.T, b bundle.Bundle) []byte {
	t.Helper()
	sealed, err := b.Seal(Key())
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// Run checks a store. open returns an empty one. reopen returns the store with all its content, and
// may be nil.
func Run(t *testing.T, open, reopen func(t *testing.T) bundle.Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s bundle.Store)
	}{
		{"nothing", nothing},
		{"versions", versions},
		{"rollouts", rollouts},
		{"tenants are apart", apart},
		{"what cannot be", wrong},
		{"what was given is copied", copied},
		{"one winner per race", races},
		{"a caller that is gone", gone},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
	if reopen != nil {
		t.Run("opened again", func(t *testing.T) {
			s := open(t)
			versions(t, s)
			rolled, err := s.Now(t.Context(), "acme")
			must(t, err)
			must(t, s.Roll(t.Context(), Rollout("acme", rolled.Serial+1, 2)))
			again := reopen(t)
			last, err := again.Last(t.Context(), "acme")
			now, err2 := again.Now(t.Context(), "acme")
			if errors.Join(err, err2) != nil || last != 3 || now.Serial != rolled.Serial+1 || now.Stable != 2 {
				t.Fatalf("%d, %+v, %v, %v", last, now, err, err2)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func nothing(t *testing.T, s bundle.Store) {
	ctx := t.Context()
	last, err := s.Last(ctx, "acme")
	if err != nil || last != 0 {
		t.Errorf("%d, %v", last, err)
	}
	for _, version := range []uint64{0, 1, 1 << 62, 1 << 63} {
		if _, err := s.Get(ctx, "acme", version); !errors.Is(err, bundle.ErrNone) {
			t.Errorf("version %d: %v", version, err)
		}
		if _, err := s.Past(ctx, "acme", version); !errors.Is(err, bundle.ErrNone) {
			t.Errorf("rollout %d: %v", version, err)
		}
	}
	now, err := s.Now(ctx, "acme")
	if err != nil || now.Serial != 0 || now.Tenant != "acme" || now.For("anybody") != 0 {
		t.Errorf("%+v, %v", now, err)
	}
}

func versions(t *testing.T, s bundle.Store) {
	ctx := t.Context()
	for v := uint64(1); v <= 3; v++ {
		sealed := Sealed(t, Bundle("acme", v))
		must(t, s.Publish(ctx, sealed))
		for _, other := range []uint64{v, v + 2} {
			if err := s.Publish(ctx, Sealed(t, Bundle("acme", other))); !errors.Is(err, bundle.ErrConflict) {
				t.Errorf("version %d after %d: %v", other, v, err)
			}
		}
		last, err := s.Last(ctx, "acme")
		got, err2 := s.Get(ctx, "acme", v)
		if errors.Join(err, err2) != nil || last != v || !bytes.Equal(got, sealed) {
			t.Fatalf("last %d, %d bytes, %v, %v", last, len(got), err, err2)
		}
	}
	b, err := s.Get(ctx, "acme", 2)
	must(t, err)
	if opened, err := bundle.Open(b, Keys()); err != nil || !reflect.DeepEqual(opened, Bundle("acme", 2)) {
		t.Errorf("%+v, %v", opened, err)
	}
}

func rollouts(t *testing.T, s bundle.Store) {
	ctx := t.Context()
	first := Rollout("acme", 1, 1)
	second := bundle.Rollout{Tenant: "acme", Serial: 2, Stable: 1, Next: 2, Share: 1234, Floor: 1, Revoked: []uint64{3, 5}, By: "Ann «owner»", At: At().Add(time.Hour)}
	for i, r := range []bundle.Rollout{first, second} {
		if err := s.Roll(ctx, bundle.Rollout{Tenant: "acme", Serial: r.Serial + 1, By: "early", At: At()}); !errors.Is(err, bundle.ErrConflict) {
			t.Errorf("a gap: %v", err)
		}
		must(t, s.Roll(ctx, r))
		if err := s.Roll(ctx, r); !errors.Is(err, bundle.ErrConflict) {
			t.Errorf("the same again: %v", err)
		}
		now, err := s.Now(ctx, "acme")
		if err != nil || !reflect.DeepEqual(now, r) {
			t.Errorf("rollout %d: %+v, %v", i, now, err)
		}
	}
	if past, err := s.Past(ctx, "acme", 1); err != nil || !reflect.DeepEqual(past, first) {
		t.Errorf("%+v, %v", past, err)
	}
}

func apart(t *testing.T, s bundle.Store) {
	ctx := t.Context()
	names := []string{"", "acme", "ACME", "acm", "a/../b", "ä", strings.Repeat("x", 100)}
	for i, name := range names {
		must(t, s.Publish(ctx, Sealed(t, Bundle(name, 1))))
		must(t, s.Roll(ctx, bundle.Rollout{Tenant: name, Serial: 1, Stable: uint64(i + 1), By: "x", At: At()}))
	}
	for i, name := range names {
		sealed, err := s.Get(ctx, name, 1)
		must(t, err)
		b, err := bundle.Open(sealed, Keys())
		now, err2 := s.Now(ctx, name)
		if errors.Join(err, err2) != nil || b.Tenant != name || now.Tenant != name || now.Stable != uint64(i+1) {
			t.Errorf("%q: %q, %+v, %v, %v", name, b.Tenant, now, err, err2)
		}
	}
}

func wrong(t *testing.T, s bundle.Store) {
	ctx := t.Context()
	sealed := Sealed(t, Bundle("acme", 1))
	for _, data := range [][]byte{nil, []byte("x"), sealed[:len(sealed)-1], append(bytes.Clone(sealed), 0)} {
		if err := s.Publish(ctx, data); !errors.Is(err, bundle.ErrMalformed) {
			t.Errorf("%d bytes: %v", len(data), err)
		}
	}
	for _, r := range []bundle.Rollout{
		{},
		{Tenant: "acme", Serial: 1},
		{Tenant: "acme", Serial: 1, Share: 1, By: "x", At: At()},
		{Tenant: "acme", Serial: 1, Stable: 1, Revoked: []uint64{1}, By: "x", At: At()},
	} {
		if err := s.Roll(ctx, r); !errors.Is(err, bundle.ErrRollout) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	nothing(t, s)
}

func copied(t *testing.T, s bundle.Store) {
	ctx := t.Context()
	sealed := Sealed(t, Bundle("acme", 1))
	given := bytes.Clone(sealed)
	must(t, s.Publish(ctx, given))
	clear(given)
	r := bundle.Rollout{Tenant: "acme", Serial: 1, Stable: 1, Revoked: []uint64{7}, By: "x", At: At()}
	must(t, s.Roll(ctx, r))
	r.Revoked[0] = 9
	got, err := s.Get(ctx, "acme", 1)
	must(t, err)
	now, err := s.Now(ctx, "acme")
	must(t, err)
	if !bytes.Equal(got, sealed) || now.Revoked[0] != 7 {
		t.Error("what was kept changed with what was given")
	}
	clear(got)
	now.Revoked[0] = 1
	got, _ = s.Get(ctx, "acme", 1)
	now, _ = s.Now(ctx, "acme")
	if !bytes.Equal(got, sealed) || now.Revoked[0] != 7 {
		t.Error("what was kept changed with what was returned")
	}
}

func races(t *testing.T, s bundle.Store) {
	sealed := Sealed(t, Bundle("acme", 1))
	race := func(what string, try func(i int) error) {
		var wins atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				switch err := try(i); {
				case err == nil:
					wins.Add(1)
				case !errors.Is(err, bundle.ErrConflict):
					t.Errorf("%s: %v", what, err)
				}
			})
		}
		all.Wait()
		if wins.Load() != 1 {
			t.Errorf("%s: %d won", what, wins.Load())
		}
	}
	race("publish", func(int) error { return s.Publish(t.Context(), sealed) })
	race("roll", func(i int) error {
		r := Rollout("acme", 1, uint64(i+1))
		return s.Roll(t.Context(), r)
	})
}

func gone(t *testing.T, s bundle.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Publish(ctx, Sealed(t, Bundle("acme", 1))) == nil || s.Roll(ctx, Rollout("acme", 1, 1)) == nil {
		t.Error("kept for a caller that is gone")
	}
	if _, err := s.Now(ctx, "acme"); err == nil {
		t.Error("read for a caller that is gone")
	}
	nothing(t, s)
}
