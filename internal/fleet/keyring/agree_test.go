package keyring

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/fleetbooks"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

// A pageOfPrints is a fleet's database.
type pageOfPrints struct{ rows []fleetbooks.Print }

func (b *pageOfPrints) Agree(_ context.Context, mine []fleetbooks.Print) (others []fleetbooks.Print, err error) {
	for _, p := range mine {
		at := slices.IndexFunc(b.rows, func(o fleetbooks.Print) bool { return o.Name == p.Name })
		if at < 0 {
			b.rows = append(b.rows, p)
		} else if b.rows[at].Print != p.Print {
			others = append(others, b.rows[at])
		}
	}
	return others, nil
}

func (b *pageOfPrints) Recorded(_ context.Context, prefix string) (list []fleetbooks.Print, err error) {
	for _, p := range b.rows {
		if strings.HasPrefix(p.Name, prefix) {
			list = append(list, p)
		}
	}
	return list, nil
}

// A node is one over a database, with what it says of tenants that it refuses.
type node struct {
	*Rings
	said []string
}

func nodeWith(book Book, keys config.Keys, tenants ...string) *node {
	var s config.Service
	s.Tenants = map[string]config.Tenant{}
	for _, name := range tenants {
		s.Tenants[name] = config.Tenant{}
	}
	n := &node{}
	n.Rings = New(keys, s, book, func(_ string, why error) { n.said = append(n.said, why.Error()) })
	return n
}

func TestNodeWithOtherKeysDoesNotStart(t *testing.T) {
	t.Parallel()
	book := &pageOfPrints{}
	keys := config.Keys{Index: provenance.Key{1}, Signing: journal.Key{Public: "a"}}
	for range 2 {
		if err := nodeWith(book, keys, "acme").Agree(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	index, both := keys, config.Keys{Index: provenance.Key{2}, Signing: journal.Key{Public: "b"}}
	index.Index = provenance.Key{2}
	for want, k := range map[string]config.Keys{"index.key: not the key": index, "index.key, journal.key: not the key": both} {
		if err := nodeWith(book, k, "acme", "new").Agree(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, p := range book.rows {
		if p.Name == "tenant new" {
			t.Error("a node with other keys wrote down a tenant's")
		}
		if p.Print == keys.Index {
			t.Errorf("%s is the key itself", p.Name)
		}
	}
}

// A tenant whose key was exchanged is refused, and it is said which is missing: what
// its sessions saw would be found nowhere.
func TestTenantWithAnotherKeyIsRefused(t *testing.T) {
	own := func(id string, b byte) map[string]config.TenantKeys {
		return map[string]config.TenantKeys{"acme": {{ID: id, Key: provenance.Key{b}}}}
	}
	for what, c := range map[string]struct {
		was, is map[string]config.TenantKeys
		says    string // empty: it is the same
	}{
		"the same":                 {own("k1", 1), own("k1", 1), ""},
		"another name for it":      {own("k1", 1), own("k2", 1), ""},
		"another key":              {own("k1", 1), own("k2", 2), `"k1"`},
		"another by the same name": {own("k1", 1), own("k1", 2), `"k1"`},
		"none of its own any more": {own("k1", 1), nil, `"k1"`},
		"one of its own":           {nil, own("k1", 1), "index.key"},
	} {
		book := &pageOfPrints{}
		keys := config.Keys{Index: provenance.Key{7}, Tenants: c.was}
		if err := nodeWith(book, keys, "acme", "other").Agree(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys.Tenants = c.is
		d := nodeWith(book, keys, "acme", "other")
		if err := d.Agree(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Key("acme"); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
		if lines := d.said; (len(lines) == 0) != (c.says == "") || len(lines) > 0 && !strings.Contains(lines[0], c.says) {
			t.Errorf("%s: it says %q", what, lines)
		}
		for _, tenant := range []string{"other", ""} {
			if _, err := d.Key(tenant); err != nil {
				t.Errorf("%s: tenant %q: %v", what, tenant, err)
			}
		}
	}
}
