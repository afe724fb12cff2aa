package keyring

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/fleetbooks"
	"github.com/floodmark/floodmark/provenance"
)

// A Book is where the nodes of a fleet record fingerprints of their keys.
type Book interface {
	// Agree records what is not there yet, and returns what differs.
	Agree(ctx context.Context, mine []fleetbooks.Print) (others []fleetbooks.Print, err error)
	// Recorded returns the recorded fingerprints whose names begin with prefix.
	Recorded(ctx context.Context, prefix string) ([]fleetbooks.Print, error)
}

// The fingerprint of a tenant's first key is named tenantPrint and the tenant. The name of a later
// key's fingerprint goes on with laterPrint and the key's own name. No tenant's name has a space.
const (
	tenantPrint = "tenant "
	laterPrint  = " key "
)

// PrintOf returns a key's fingerprint, from which the key cannot be found.
func PrintOf(key provenance.Key) [32]byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte("floodmark fingerprint of a key 1"))
	return [32]byte(mac.Sum(nil))
}

// Agree returns an error if this node's index.key or journal.key differs from those of the fleet.
// With such keys, content that other nodes saw would not be recognised here and would pass for
// harmless. If a key of one tenant is missing, only that tenant is refused. Tenants' keys are
// compared last, so that a node with wrong keys never records keys of tenants.
func (r *Rings) Agree(ctx context.Context) error {
	if r.book == nil {
		return nil // a single node
	}
	others, err := r.book.Agree(ctx, []fleetbooks.Print{
		{Name: "index.key", Print: PrintOf(r.keys.Index)},
		{Name: "journal.key", Print: sha256.Sum256([]byte(r.keys.Signing.Public))},
	})
	if err != nil {
		return err
	}
	if len(others) > 0 {
		names := map[string]bool{}
		var list []string
		for _, p := range others {
			if !names[p.Name] {
				list = append(list, p.Name)
			}
			names[p.Name] = true
		}
		return fmt.Errorf("%s: not the key that the nodes of this fleet have: give this node the same keys (docs/guide/runbook.md#a-node-has-other-keys)", strings.Join(list, ", "))
	}
	// Another node may record a tenant's first key between our reading and our writing. A tenant
	// has one first key, so this happens once.
	for try := 0; ; try++ {
		differ, err := r.agreeTenants(ctx)
		if err != nil || !differ {
			return err
		}
		if try > 0 {
			return errors.New("compare keys with those of other nodes: they keep changing")
		}
	}
}

// agreeTenants compares the keys of tenants, and records each key before this node uses it. differ
// reports that another node has recorded other keys meanwhile.
func (r *Rings) agreeTenants(ctx context.Context) (differ bool, err error) {
	rows, err := r.book.Recorded(ctx, tenantPrint)
	if err != nil {
		return false, err
	}
	var mine []fleetbooks.Print
	for _, tenant := range r.service.TenantNames() {
		ring, write, err := r.agreed(tenant, rows)
		if err != nil {
			r.refuseTenant(tenant, err)
			continue
		}
		r.put(tenant, ring)
		mine = append(mine, write...)
	}
	others, err := r.book.Agree(ctx, mine)
	return len(others) > 0, err
}

// refuseTenant reports once that a tenant is refused here.
func (r *Rings) refuseTenant(tenant string, why error) {
	if r.refuse(tenant, why) {
		r.refused(tenant, why)
	}
}

// agreed compares the keys of a tenant on this node with the recorded ones, all of which must be
// here. It returns this node's keys as a ring, and the fingerprints to record before a key is used.
func (r *Rings) agreed(tenant string, rows []fleetbooks.Print) (ring provenance.Ring, write []fleetbooks.Print, err error) {
	keys, current, err := r.mounted(tenant)
	if err != nil {
		return ring, nil, err
	}
	first, later, err := recordedOf(tenant, rows)
	if err != nil {
		return ring, nil, err
	}
	if first == nil {
		first = &fleetbooks.Print{Name: tenantPrint + tenant, ID: keys[current].ID, Print: PrintOf(keys[current].Key)}
	}
	write = append([]fleetbooks.Print{*first}, later...)
	used := make([]bool, len(keys))
	last := -1
	for _, p := range write {
		at := slices.IndexFunc(keys, func(k config.TenantKey) bool { return PrintOf(k.Key) == p.Print })
		if at < 0 {
			return ring, nil, missingKey(tenant, p.ID)
		}
		if at < last {
			return ring, nil, fmt.Errorf("the keys of tenant %q stand in another order in tenants.keys than they came into use: put the oldest first", tenant)
		}
		used[at], last = true, at
	}
	if !used[current] {
		if current < last {
			return ring, nil, fmt.Errorf("the current key %q of tenant %q stands before one that came into use earlier: put the oldest first", keys[current].ID, tenant)
		}
		used[current] = true
		k := keys[current]
		write = append(write, fleetbooks.Print{Name: tenantPrint + tenant + laterPrint + k.Key.Name(), ID: k.ID, Print: PrintOf(k.Key)})
	}
	return ringOf(keys, current, used, first.Print), write, nil
}

// ringOf returns the ring of the keys on this node. The key derived from index.key is in it only if
// it was ever used, or if a line of tenants.keys names it.
func ringOf(keys config.TenantKeys, current int, used []bool, first [32]byte) (ring provenance.Ring) {
	for i, k := range keys {
		if k.Derived && k.ID == "" && !used[i] {
			continue
		}
		r := provenance.RingKey{Key: k.Key, Former: k.Use == config.FormerKey}
		if PrintOf(k.Key) != first {
			r.Name = k.Key.Name()
		}
		if i == current {
			ring.Current = len(ring.Keys)
		}
		ring.Keys = append(ring.Keys, r)
	}
	return ring
}

// recordedOf returns the recorded fingerprints of one tenant's keys: of its first key, and of the
// later keys in the order in which they came into use.
func recordedOf(tenant string, rows []fleetbooks.Print) (first *fleetbooks.Print, later []fleetbooks.Print, err error) {
	own := tenantPrint + tenant
	for _, p := range rows {
		switch {
		case p.Name == own && first != nil && first.Print != p.Print:
			return nil, nil, fmt.Errorf("the databases of this fleet hold different first keys of tenant %q", tenant)
		case p.Name == own:
			first = &p
		case strings.HasPrefix(p.Name, own+laterPrint) && !slices.ContainsFunc(later, func(o fleetbooks.Print) bool { return o.Name == p.Name }):
			later = append(later, p)
		}
	}
	if first == nil && len(later) > 0 {
		return nil, nil, fmt.Errorf("the fingerprint of the first key of tenant %q is gone from the database, and those of later ones are there: restore it", tenant)
	}
	return first, later, nil
}

// missingKey returns the error that says which key of a tenant is missing here.
func missingKey(tenant, id string) error {
	if id == "" {
		return fmt.Errorf("the sessions of tenant %q were begun under the key that follows from index.key, and tenants.keys has another: take that line out, or change the key step by step (docs/guide/key-rotation.md)", tenant)
	}
	return fmt.Errorf("sessions of tenant %q were begun under its key %q, which is not in tenants.keys: put that line back", tenant, id)
}
