package config

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

const (
	maxKeyIDBytes = 64
	// maxKeysOfTenant bounds the keys of one tenant, because records about files are looked up
	// under each of them.
	maxKeysOfTenant = 8
)

// A KeyUse says what a key of a tenant is for.
type KeyUse string

// The uses of a key. Content that was seen under a key is recognised whatever the key's use is now.
const (
	// HeldKey is only used to recognise content: no new session uses it.
	HeldKey KeyUse = ""
	// CurrentKey is the key of new sessions.
	CurrentKey KeyUse = "current"
	// FormerKey is a key under which records about files are no longer stored, because every node
	// has a newer key.
	FormerKey KeyUse = "former"
)

// derivedKey is written in tenants.keys for the key that is derived from index.key.
const derivedKey = mountedIndex

// A TenantKey is an index key of a tenant. ID is its name for people.
type TenantKey struct {
	ID  string
	Key provenance.Key
	// Derived says that it is the key derived from index.key. Key is not set then.
	Derived bool
	Use     KeyUse
}

// TenantKeys are the keys of one tenant, the oldest first.
type TenantKeys []TenantKey

// Current returns the index of the key of new sessions, or -1 if there is none. A tenant's only key
// needs no mark to be current.
func (keys TenantKeys) Current() int {
	for i, k := range keys {
		if k.Use == CurrentKey || len(keys) == 1 && k.Use == HeldKey {
			return i
		}
	}
	return -1
}

// CheckAlone refuses several keys of a tenant if the journal is not a database: such a journal does
// not record under which key a session began.
func (k Keys) CheckAlone() error {
	for _, tenant := range slices.Sorted(maps.Keys(k.Tenants)) {
		if len(k.Tenants[tenant]) > 1 {
			return fmt.Errorf("%s: tenant %.100q has several keys, and a journal that is not in PostgreSQL knows one: leave one line", mountedTenants, tenant)
		}
	}
	return nil
}

// ReadTenantKeys reads a file of tenants' keys, with the same checks as a node.
func ReadTenantKeys(file string) (map[string]TenantKeys, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := mountedFile(root, filepath.Base(file), maxTenantKeysBytes)
	if err != nil {
		return nil, err
	}
	keys, err := parseTenantKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for tenant := range keys {
		if err := CheckTenant(tenant); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return keys, nil
}

// parseTenantKeys reads lines with four words: tenant, id, key in base64, and an optional use. A
// tenant's oldest key comes first. No error contains a key.
func parseTenantKeys(text string) (map[string]TenantKeys, error) {
	keys := map[string]TenantKeys{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		tenant := words[0]
		k, err := parseTenantKey(words)
		if err == nil {
			err = keys[tenant].takes(tenant, k)
		}
		if err == nil && len(keys[tenant]) == 0 && len(keys) >= MaxTenants {
			err = fmt.Errorf("more than %d tenants", MaxTenants)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		keys[tenant] = append(keys[tenant], k)
	}
	for tenant, list := range keys {
		if list.Current() < 0 {
			return nil, fmt.Errorf("tenant %.100q: no key is its current one: write «current» at the end of one of its lines", tenant)
		}
	}
	return keys, nil
}

func parseTenantKey(words []string) (k TenantKey, err error) {
	if len(words) != 3 && len(words) != 4 {
		return k, fmt.Errorf("want three words, or four: tenant, id, key in base64, «%s» or «%s»", CurrentKey, FormerKey)
	}
	if len(words[0]) > journal.MaxTenantBytes || len(words[1]) > maxKeyIDBytes {
		return k, fmt.Errorf("a tenant has at most %d bytes, an id %d", journal.MaxTenantBytes, maxKeyIDBytes)
	}
	k.ID = words[1]
	if words[2] == derivedKey {
		k.Derived = true
	} else {
		raw, err := base64.StdEncoding.DecodeString(words[2])
		if err != nil || len(raw) != len(k.Key) {
			return TenantKey{}, fmt.Errorf("the key is not %d bytes in base64", len(k.Key))
		}
		copy(k.Key[:], raw)
	}
	if len(words) == 4 {
		k.Use = KeyUse(words[3])
		if k.Use != CurrentKey && k.Use != FormerKey {
			return TenantKey{}, fmt.Errorf("a key is «%s» or «%s», or nothing is said of it", CurrentKey, FormerKey)
		}
	}
	return k, nil
}

// takes returns an error if a key cannot be added to the tenant's keys.
func (keys TenantKeys) takes(tenant string, k TenantKey) error {
	if len(keys) >= maxKeysOfTenant {
		return fmt.Errorf("tenant %.100q has more than %d keys", tenant, maxKeysOfTenant)
	}
	for _, o := range keys {
		switch {
		case o.ID == k.ID:
			return fmt.Errorf("tenant %.100q has two keys called %.64q", tenant, k.ID)
		case o.Key == k.Key && o.Derived == k.Derived:
			return fmt.Errorf("tenant %.100q has the same key twice, as %.64q and as %.64q", tenant, o.ID, k.ID)
		case o.Use == CurrentKey && k.Use == CurrentKey:
			return fmt.Errorf("tenant %.100q has two current keys, %.64q and %.64q", tenant, o.ID, k.ID)
		}
	}
	return nil
}
