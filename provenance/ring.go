package provenance

import (
	"encoding/hex"
	"slices"
)

// A RingKey is one key of a tenant.
type RingKey struct {
	// Name is stored with everything that was made under the key. It is empty for
	// the tenant's first key, which needed no name when it was the only one.
	Name string
	Key  Key
	// Former says that the key is no longer used to name or seal records about files.
	Former bool
}

// A Ring holds all keys of a tenant, the oldest first. A new session gets the
// current key and keeps it. What was seen under any of the keys is recognised.
// The zero Ring has no keys.
type Ring struct {
	Keys    []RingKey
	Current int
}

// RingOf returns the ring of a tenant that never changed its key.
func RingOf(first Key) Ring { return Ring{Keys: []RingKey{{Key: first}}} }

// Find returns the key with a name, and false if the ring has none.
func (r Ring) Find(name string) (RingKey, bool) {
	for _, k := range r.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return RingKey{}, false
}

// Born returns the key that a new session gets, and false if there is none.
func (r Ring) Born() (RingKey, bool) {
	if r.Current < 0 || r.Current >= len(r.Keys) {
		return RingKey{}, false
	}
	return r.Keys[r.Current], true
}

// Besides returns all keys except the one with this name.
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

// keyNameBytes is how many bytes of a hash name a key. They are enough that no two
// keys of a tenant get the same name.
const keyNameBytes = 8
