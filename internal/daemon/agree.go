package daemon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark/internal/postgresjournal"
	"github.com/floodmark/floodmark/provenance"
)

// A printBook is where the nodes of a fleet write down fingerprints of their keys.
type printBook interface {
	Agree(ctx context.Context, mine []postgresjournal.Print) (others []postgresjournal.Print, err error)
}

// tenantPrint begins the name of the fingerprint of a tenant's key.
const tenantPrint = "tenant "

// printOf is a fingerprint: nobody finds the key by it.
func printOf(key provenance.Key) [32]byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte("floodmark fingerprint of a key 1"))
	return [32]byte(mac.Sum(nil))
}

// agree refuses to start with other keys than the fleet's nodes have: what they saw
// would not be recognised here, and would pass for harmless. A tenant whose own key
// is another is refused alone. The keys of tenants are compared last, because a
// node that is wrong must not be the one that writes them down.
func (d *Daemon) agree(ctx context.Context, book printBook) error {
	others, err := book.Agree(ctx, []postgresjournal.Print{
		{Name: "index.key", Print: printOf(d.keys.Index)},
		{Name: "journal.key", Print: sha256.Sum256([]byte(d.keys.Signing.Public))},
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
	var own []postgresjournal.Print
	for _, tenant := range d.opts.Service.TenantNames() {
		key, err := d.key(tenant)
		if err != nil {
			return err
		}
		own = append(own, postgresjournal.Print{Name: tenantPrint + tenant, ID: d.keys.Tenants[tenant].ID, Print: printOf(key)})
	}
	if others, err = book.Agree(ctx, own); err != nil {
		return err
	}
	d.otherKeys = map[string]string{}
	for _, p := range others {
		tenant := strings.TrimPrefix(p.Name, tenantPrint)
		d.otherKeys[tenant] = p.ID
		d.opts.Log.Error("a tenant is refused", "tenant", tenant, "error", d.otherKey(tenant, p.ID))
		d.notes.add("", "other-key", d.otherKey(tenant, p.ID).Error(), d.opts.Now())
	}
	return nil
}

// otherKey says which key of a tenant is missing here.
func (d *Daemon) otherKey(tenant, id string) error {
	if id == "" {
		return fmt.Errorf("the sessions of tenant %q were begun under the key that follows from index.key, and tenants.keys has another: take that line out", tenant)
	}
	return fmt.Errorf("the sessions of tenant %q were begun under its key %q, which is not in tenants.keys: put that line back", tenant, id)
}
