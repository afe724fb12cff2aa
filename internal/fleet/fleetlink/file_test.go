package fleetlink

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
)

func member() Membership {
	return Membership{URL: "https://floodmark.example", Tenant: "acme", Machine: "m1", Token: "fm_machine_m1_x", Keys: []string{bundle.FormatKey(bundletest.Keys()[0])}}
}

// Other users cannot read a membership, and a damaged one is an error.
func TestMembership(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.json")
	if _, is, err := Load(path); is || err != nil {
		t.Fatal(is, err)
	}
	if err := member().Save(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	got, is, err := Load(path)
	if !is || err != nil || got.Machine != "m1" || got.Token != "fm_machine_m1_x" {
		t.Fatalf("%+v, %v, %v", got, is, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(path); err == nil {
		t.Error("others may read it")
	}
	for name, text := range map[string]string{
		"cut": `{"version":1,"url":"https://x.example","machine":"m1","tok`, "newer": `{"version":2,"url":"https://x.example","machine":"m1","token":"secret"}`,
		"plain": `{"version":1,"url":"http://x.example","machine":"m1","token":"secret"}`, "two": `{"version":1,"url":"https://x.example","machine":"m1","token":"secret"}{}`,
		"unknown": `{"version":1,"url":"https://x.example","machine":"m1","token":"secret","more":1}`, "empty": "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Chmod(path, 0o600)
		if _, is, err := Load(path); is || err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
}

// sealed returns a version with a floor.
func sealed(t *testing.T, tenant string, version, floor uint64) []byte {
	t.Helper()
	b := bundletest.Bundle(tenant, version)
	b.Floor = floor
	return bundletest.Sealed(t, b)
}

// The stored bundle is the last one that could be used. It is never replaced by one that is below a
// floor, another tenant's, expired, or not signed.
func TestTake(t *testing.T) {
	now, m := bundletest.At().Add(time.Hour), member()
	k, err := Kept{}.Take(m, sealed(t, "acme", 2, 1), 2, 0, now)
	if err != nil || k.Version != 2 {
		t.Fatal(k.Version, err)
	}
	if k, err = k.Take(m, sealed(t, "acme", 1, 1), 1, 0, now); err != nil || k.Version != 1 {
		t.Errorf("back to what its floor allows: %d, %v", k.Version, err)
	}
	if k, err = k.Take(m, sealed(t, "acme", 5, 4), 5, 0, now); err != nil || k.Floor != 4 {
		t.Fatal(k.Floor, err)
	}
	broken := sealed(t, "acme", 6, 4)
	broken[len(broken)-1]++
	for name, c := range map[string]struct {
		data    []byte
		version uint64
		at      time.Time
	}{
		"below the floor": {sealed(t, "acme", 3, 1), 3, now}, "another tenant's": {sealed(t, "beta", 6, 4), 6, now}, "another version": {sealed(t, "acme", 6, 4), 7, now},
		"expired": {sealed(t, "acme", 6, 4), 6, now.Add(40 * 24 * time.Hour)}, "changed": {broken, 6, now}, "nothing": {nil, 6, now}, "nonsense": {[]byte("x"), 6, now},
	} {
		if next, err := k.Take(m, c.data, c.version, 0, c.at); err == nil || next.Version != 5 {
			t.Errorf("%s: %d, %v", name, next.Version, err)
		}
	}
	if next, err := k.Take(m, sealed(t, "acme", 6, 4), 6, 99, now); err != nil || next.Floor != 6 {
		t.Errorf("the rollout's floor: %d, %v", next.Floor, err)
	}
	stranger := m
	stranger.Keys = nil
	if _, err := k.Open(stranger, now); err == nil {
		t.Error("believed without a key")
	}
	gone, err := k.Take(m, nil, 0, 0, now)
	if _, open := gone.Open(m, now); err != nil || open == nil || gone.Floor != 4 {
		t.Errorf("taken back: %+v, %v, %v", gone, err, open)
	}
	if next, err := gone.Take(m, sealed(t, "acme", 3, 1), 3, 0, now); err == nil {
		t.Errorf("the floor is forgotten: %d", next.Version)
	}
}

// An expired bundle stays expired if the clock is set back. The file is as private as the
// membership.
func TestKeptTime(t *testing.T) {
	path, m := filepath.Join(t.TempDir(), "b.json"), member()
	late := bundletest.At().Add(29 * 24 * time.Hour)
	k, err := Kept{}.Take(m, sealed(t, "acme", 1, 1), 1, 0, late)
	if err != nil {
		t.Fatal(err)
	}
	k.Latest = late.Add(2 * 24 * time.Hour)
	if err := k.Save(path); err != nil {
		t.Fatal(err)
	}
	k, err = LoadKept(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Open(m, bundletest.At()); !errors.Is(err, bundle.ErrExpired) {
		t.Errorf("revived: %v", err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
}

// FuzzKept: of any bytes in the file, only what the author signed is used.
func FuzzKept(f *testing.F) {
	f.Add([]byte(`{"version":1,"sealed":"eA=="}`))
	f.Add([]byte(`{`))
	path := filepath.Join(f.TempDir(), "b.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Skip()
		}
		k, err := LoadKept(path)
		if err != nil && (len(k.Sealed) > 0 || k.Version > 0) {
			t.Error("something of a damaged file is used")
		}
		if b, err := k.Open(member(), bundletest.At()); err == nil && b.Version == 0 {
			t.Error("used what is no bundle")
		}
	})
}
