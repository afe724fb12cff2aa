package provenance

import (
	"encoding/hex"
	"slices"
)

// A RingKey is one key of a tenant.
type RingKey struct {
	// Name is what stands with whatever was made under it, and is empty for the
	// tenant's first key: that had no name when it was the only one.
	Name string
	Key  Key
	// Former says that no new word about a file is named or sealed with it.
	Former bool
}

// A Ring is all keys of a tenant, the oldest first. New sessions are born with
// the current one and keep it; what was seen under any of them is recognised.
// The zero Ring has none.
type Ring struct {
	Keys    []RingKey
	Current int
}

// RingOf is the ring of a tenant that never changed its key.
func RingOf(first Key) Ring { return Ring{Keys: []RingKey{{Key: first}}} }

// Find returns the key with a name, and false if it is not here.
func (r Ring) Find(name string) (RingKey, bool) {
	for _, k := range r.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return RingKey{}, false
}

// Born is the key that new sessions have, and false if there is none.
func (r Ring) Born() (RingKey, bool) {
	if r.Current < 0 || r.Current >= len(r.Keys) {
		return RingKey{}, false
	}
	return r.Keys[r.Current], true
}

// Besides are all keys but the one with a name.
func (r Ring) Besides(name string) []RingKey {
	if len(r.Keys) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Keys), func(k RingKey) bool { return k.Name == name })
}

// Name returns a name that only this key has. The key does not follow from it.
func (k Key) Name() string {
	h := newHasher(k)
	h.text("\x00name of a key")
	return hex.EncodeToString(h.sum[:keyNameBytes])
}

// keyNameBytes is how much of a hash names a key: no two keys of a tenant agree
// in so much.
const keyNameBytes = 8
