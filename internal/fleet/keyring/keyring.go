// Package keyring has the keys of the tenants on one node, and compares them with the keys of the
// other nodes of its fleet, which must be the same.
package keyring

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/provenance"
)

// Rings are the keys of tenants on this node. They are safe for concurrent use.
type Rings struct {
	keys    config.Keys
	service config.Service
	book    Book // nil for a single node
	refused func(tenant string, why error)

	mu    sync.RWMutex // guards all below
	of    map[string]provenance.Ring
	wrong map[string]error // tenants that are refused here
}

// New returns the rings of the tenants that service.yaml names. Book is where the nodes of a fleet
// record fingerprints of their keys, nil for a single node; refused is called once for each tenant
// that is refused here.
func New(keys config.Keys, service config.Service, book Book, refused func(tenant string, why error)) *Rings {
	return &Rings{keys: keys, service: service, book: book, refused: refused}
}

func (r *Rings) get(tenant string) (ring provenance.Ring, known bool, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	ring, known = r.of[tenant]
	return ring, known, r.wrong[tenant]
}

// refuse records why a tenant is refused, and reports whether it was not refused before.
func (r *Rings) refuse(tenant string, why error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong == nil {
		r.wrong = map[string]error{}
	}
	_, before := r.wrong[tenant]
	r.wrong[tenant] = why
	return !before
}

func (r *Rings) put(tenant string, ring provenance.Ring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]provenance.Ring{}
	}
	r.of[tenant] = ring
}

// Refusals returns a text for the public that says how many tenants are refused here; empty if none.
func (r *Rings) Refusals() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch n := len(r.wrong); n {
	case 0:
		return ""
	case 1:
		return "but 1 tenant is refused here: a key of it is missing"
	default:
		return fmt.Sprintf("but %d tenants are refused here: keys of them are missing", n)
	}
}

// Ring returns all keys of a tenant. The empty tenant, the only one of a laptop, has one key. A
// tenant that service.yaml names has a key derived from index.key, or keys of its own. A derived key
// is the same on all nodes with the same index.key, and of no use for the index of another tenant.
func (r *Rings) Ring(tenant string) (provenance.Ring, error) {
	if tenant == "" {
		return provenance.RingOf(r.keys.Index), nil
	}
	if !r.service.HasTenant(tenant) {
		return provenance.Ring{}, fmt.Errorf("there is no tenant %q here: name it under tenants in service.yaml", tenant)
	}
	ring, known, err := r.get(tenant)
	if err != nil || known {
		return ring, err
	}
	mounted, current, err := r.mounted(tenant)
	if err != nil {
		return provenance.Ring{}, err
	}
	ring = provenance.RingOf(mounted[current].Key)
	if r.book == nil { // in a fleet, only keys that Agree has compared are kept
		r.put(tenant, ring)
	}
	return ring, nil
}

// Key returns the tenant's first key, for digests that must stay the same however often the tenant
// changes its key.
func (r *Rings) Key(tenant string) (provenance.Key, error) {
	ring, err := r.Ring(tenant)
	if err != nil {
		return provenance.Key{}, err
	}
	first, ok := ring.Find("")
	if !ok {
		return provenance.Key{}, fmt.Errorf("tenant %q: its first key is not here", tenant)
	}
	return first.Key, nil
}

// mounted returns the keys of a tenant that this node has, the oldest first, and the index of the
// key for new sessions. The key derived from index.key is the oldest, unless a line of tenants.keys
// gives it another place. If the tenant has a single line without a use, that is its only key.
func (r *Rings) mounted(tenant string) (list config.TenantKeys, current int, err error) {
	derived, err := hkdf.Key(sha256.New, r.keys.Index[:], nil, "floodmark tenant key 1: "+tenant, len(provenance.Key{}))
	if err != nil {
		return nil, 0, err
	}
	own := r.keys.Tenants[tenant]
	named := len(own) == 1 && own[0].Use == config.HeldKey
	for _, k := range own {
		if k.Derived {
			k.Key, named = provenance.Key(derived), true
		}
		list = append(list, k)
	}
	if !named {
		list = append(config.TenantKeys{{Key: provenance.Key(derived), Derived: true}}, list...)
	}
	if current = list.Current(); current < 0 {
		return nil, 0, fmt.Errorf("tenant %q: no key is its current one", tenant)
	}
	return list, current, nil
}

// keysEvery is how often a node looks whether other nodes use keys that this node lacks.
const keysEvery = 10 * time.Second

// Watch refuses a tenant when another node uses a key of the tenant that is not here, because
// content seen under that key would not be recognised.
func (r *Rings) Watch(ctx context.Context) error {
	if r.book == nil {
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(keysEvery):
			r.Look(ctx)
		}
	}
}

// Look does once what Watch does again and again. If the database does not answer, Look changes
// nothing: the database then takes no writes either, so nothing is judged meanwhile.
func (r *Rings) Look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keysEvery)
	defer cancel()
	rows, err := r.book.Recorded(ctx, tenantPrint)
	if err != nil {
		return
	}
	for _, tenant := range r.service.TenantNames() {
		if _, _, err := r.agreed(tenant, rows); err != nil {
			r.refuseTenant(tenant, err)
		}
	}
}
