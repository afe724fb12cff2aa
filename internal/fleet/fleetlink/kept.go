package fleetlink

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/internal/rules/bundle"
)

// A Kept is the bundle that a laptop stores on disk, with what must not be forgotten about bundles.
// The bundle is verified again whenever it is read.
//
// Rules for changing it: fields are only added, and the absence of one must mean the safest value.
type Kept struct {
	// Sealed is the bundle as its author signed it; empty for none.
	Sealed []byte `json:"sealed,omitempty"`
	// Version is the version that the fleet gave to this machine.
	Version uint64 `json:"version,omitempty"`
	// Floor is the highest floor of all bundles that were opened here. Versions below it are never
	// used again.
	Floor uint64 `json:"floor,omitempty"`
	// Latest is the latest time that was seen, so that an expired bundle stays expired if the clock
	// is set back.
	Latest time.Time `json:"latest,omitzero"`
}

// maxKept bounds the file: a bundle in base64, and some room.
const maxKept = int64(bundle.MaxSealedBytes*3/2 + 64<<10)

// LoadKept reads a file; it returns the zero Kept if there is none.
func LoadKept(path string) (Kept, error) {
	var k Kept
	_, err := load(path, maxKept, &k)
	if err != nil {
		return Kept{}, err
	}
	return k, nil
}

// Save writes k to a file that no other user can read.
func (k Kept) Save(path string) error { return save(path, k) }

// Open returns the bundle if it may be used now.
func (k Kept) Open(m Membership, now time.Time) (bundle.Bundle, error) {
	if len(k.Sealed) == 0 {
		return bundle.Bundle{}, errNoBundle
	}
	keys, err := m.keys()
	if err != nil {
		return bundle.Bundle{}, err
	}
	b, err := bundle.Open(k.Sealed, keys)
	if err != nil {
		return bundle.Bundle{}, err
	}
	if now.Before(k.Latest) {
		now = k.Latest
	}
	return b, b.Usable(m.Tenant, k.Version, k.Floor, now)
}

// errNoBundle says that the fleet gave this machine no rules.
var errNoBundle = errors.New("the fleet has no rules for this machine")

// Take returns what to store after the fleet has sent a bundle. If the bundle cannot be used, Take
// returns k unchanged and an error.
func (k Kept) Take(m Membership, sealed []byte, version, floor uint64, now time.Time) (Kept, error) {
	next := Kept{Sealed: sealed, Version: version, Floor: k.Floor, Latest: later(k.Latest, now)}
	if version == 0 {
		return Kept{Floor: k.Floor, Latest: next.Latest}, nil // the fleet withdrew the bundle and gave no other
	}
	b, err := next.Open(m, now)
	if err != nil {
		return k, fmt.Errorf("bundle %d of the fleet is not used: %w", version, err)
	}
	// The fleet's floor is not signed, so it is capped at this version.
	next.Floor = max(next.Floor, b.Floor, min(floor, version))
	return next, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b.UTC()
	}
	return a
}

func (m Membership) keys() ([]ed25519.PublicKey, error) {
	var list []ed25519.PublicKey
	for _, text := range m.Keys {
		key, err := bundle.ParseKey(text)
		if err != nil {
			return nil, err
		}
		list = append(list, key)
	}
	return list, nil
}
