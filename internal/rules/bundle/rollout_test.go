package bundle_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
)

func rolled(stable, next uint64, share int, revoked ...uint64) bundle.Rollout {
	return bundle.Rollout{Tenant: "acme", Serial: 1, Stable: stable, Next: next, Share: share, Revoked: revoked, By: "x", At: bundletest.At()}
}

const subjects = 10_000

// A share is close to its size, and exact for none and all.
func TestShares(t *testing.T) {
	for _, share := range []int{0, 1, 100, 1000, 2500, 5000, 9000, 9999, bundle.Everybody} {
		r, n := rolled(1, 2, share), 0
		for i := range subjects {
			switch r.For(fmt.Sprintf("session-%d", i)) {
			case 2:
				n++
			case 1:
			default:
				t.Fatal("neither")
			}
		}
		// Five standard deviations of so many draws.
		p := float64(share) / bundle.Everybody
		if off := math.Abs(float64(n) - p*subjects); off > 5*math.Sqrt(subjects*p*(1-p)) {
			t.Errorf("share %d: %d of %d", share, n, subjects)
		}
	}
}

// A subject with the next version keeps it while the share grows. For another version, and in
// another tenant, subjects are drawn again.
func TestSharesOnlyGrow(t *testing.T) {
	other, version := 0, 0
	for i := range subjects {
		s := fmt.Sprint(i)
		had := false
		for share := 0; share <= bundle.Everybody; share += 500 {
			has := rolled(1, 2, share).For(s) == 2
			if had && !has {
				t.Fatalf("%s lost the next version at %d", s, share)
			}
			had = has
		}
		if rolled(1, 2, 1000).For(s) == 2 {
			r := rolled(1, 2, 1000)
			if r.Tenant = "beta"; r.For(s) == 2 {
				other++
			}
			if rolled(1, 3, 1000).For(s) == 3 {
				version++
			}
		}
	}
	if other > 200 || version > 200 {
		t.Errorf("of about 1000 who have a version early %d have it early in another tenant, %d the version after it", other, version)
	}
}

// For all rollouts: the same answer twice, one of two versions or none, and never
// one that is revoked.
func TestRevokedVersionsAreNotGivenOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		r := rolled(uint64(random.IntN(4)), uint64(random.IntN(4)), random.IntN(14_000)-2000)
		for v := uint64(1); v < 4; v++ {
			if random.IntN(3) == 0 {
				r.Revoked = append(r.Revoked, v)
			}
		}
		r.Floor = uint64(random.IntN(4))
		subject := fmt.Sprint(random.IntN(1000))
		got := r.For(subject)
		if got != r.For(subject) || got != 0 && got != r.Stable && got != r.Next {
			t.Fatalf("%+v: %d", r, got)
		}
		for _, v := range r.Revoked {
			if got == v || got != 0 && got < r.Floor {
				t.Fatalf("%+v: %d is revoked", r, got)
			}
		}
	}
	if (bundle.Rollout{}).For("x") != 0 {
		t.Error("the zero rollout gives something")
	}
}

// The draw must not change, because nodes of two versions must agree about it.
func TestDrawStays(t *testing.T) {
	var got []uint64
	for i := range 16 {
		got = append(got, rolled(1, 2, 5000).For(fmt.Sprint(i)))
	}
	want := []uint64{2, 1, 1, 1, 1, 2, 1, 2, 1, 1, 1, 1, 2, 2, 1, 2}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestRolloutCheck(t *testing.T) {
	for name, r := range map[string]bundle.Rollout{
		"nothing yet": rolled(0, 0, 0), "everybody": rolled(1, 0, 0), "some": rolled(1, 2, 1), "the first": rolled(0, 1, bundle.Everybody), "back": rolled(1, 0, 0, 2, 3),
	} {
		data, err := r.Encode()
		if err != nil || r.Check() != nil {
			t.Errorf("%s: %v, %v", name, r.Check(), err)
		}
		if got, err := bundle.DecodeRollout(data); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	many := rolled(1, 0, 0)
	for v := range uint64(bundle.MaxRevoked + 1) {
		many.Revoked = append(many.Revoked, v+2)
	}
	unsigned, early, low, lower := rolled(1, 0, 0), rolled(1, 0, 0), rolled(3, 2, 1), rolled(2, 3, 1)
	unsigned.By, early.Serial, low.Floor, lower.Floor = "", 0, 3, 3
	for name, r := range map[string]bundle.Rollout{
		"share": rolled(1, 2, bundle.Everybody+1), "below": rolled(1, 2, -1), "of none": rolled(1, 0, 1), "twice": rolled(2, 2, 1), "revoked": rolled(1, 2, 1, 2),
		"stable revoked": rolled(1, 2, 1, 1), "order": rolled(1, 0, 0, 3, 2), "double": rolled(1, 0, 0, 2, 2), "zero": rolled(1, 0, 0, 0), "far": rolled(bundle.MaxVersion+1, 0, 0),
		"many": many, "nobody": unsigned, "serial": early, "next below the floor": low, "stable below the floor": lower,
	} {
		if err := r.Check(); !errors.Is(err, bundle.ErrRollout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeRollout(f *testing.F) {
	data, err := rolled(1, 2, 300, 4).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"tenant":"acme","extra":1}`))
	f.Add([]byte(`{"tenant":"acme","serial":1,"revoked":[],"by":"anna","at":"2026-11-16T00:00:00Z"}`))
	f.Add([]byte(`{"tenant":"acme","serial":1,"by":"anna","at":"0000-01-01T00:00:00+01:00"}`))
	f.Add([]byte(`{"tenant":"acme","serial":1,"by":"anna","at":"9999-12-31T23:59:59-01:00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := bundle.DecodeRollout(data)
		if err != nil {
			return
		}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := bundle.DecodeRollout(again); err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("%+v, %+v, %v", r, back, err)
		}
	})
}

func TestMemory(t *testing.T) {
	bundletest.Run(t, func(*testing.T) bundle.Store { return &bundle.Memory{} }, nil)
}

func TestFolder(t *testing.T) {
	var dir string
	open := func(t *testing.T) bundle.Store {
		dir = filepath.Join(t.TempDir(), "bundles")
		return bundle.NewFolder(dir)
	}
	bundletest.Run(t, open, func(*testing.T) bundle.Store { return bundle.NewFolder(dir) })
}
