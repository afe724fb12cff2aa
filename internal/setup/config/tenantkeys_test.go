package config

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/provenance"
)

// lineKey returns a key as it is written in tenants.keys.
func lineKey(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

func TestTenantKeys(t *testing.T) {
	got, err := parseTenantKeys("# ours\nacme derived index.key former\nbeta 1 " + lineKey(9) + "\nacme 2026-11 " + lineKey(1) +
		" current\n\nacme 2027-02 " + lineKey(2) + "\n")
	if err != nil {
		t.Fatal(err)
	}
	key := func(b byte) provenance.Key { return provenance.Key(bytes.Repeat([]byte{b}, 32)) }
	want := map[string]TenantKeys{
		"acme": {{ID: "derived", Derived: true, Use: FormerKey}, {ID: "2026-11", Key: key(1), Use: CurrentKey}, {ID: "2027-02", Key: key(2)}},
		"beta": {{ID: "1", Key: key(9)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got["acme"].Current() != 1 || got["beta"].Current() != 0 || (TenantKeys{}).Current() != -1 {
		t.Error("the current key is another")
	}
	if err := (Keys{Tenants: got}).CheckAlone(); err == nil || !strings.Contains(err.Error(), `"acme" has several keys`) {
		t.Errorf("without a database: %v", err)
	}
	if err := (Keys{Tenants: map[string]TenantKeys{"beta": got["beta"]}}).CheckAlone(); err != nil {
		t.Error(err)
	}
}

func TestTenantKeysThatAreRefused(t *testing.T) {
	key, other := lineKey(1), lineKey(2)
	many := ""
	for i := range maxKeysOfTenant + 1 {
		many += fmt.Sprintf("acme %d %s\n", i, lineKey(byte(i)))
	}
	for text, want := range map[string]string{
		"acme " + key:                                              "three words",
		"acme 1 2 " + key + " current":                             "three words",
		"acme 1 " + key + " next":                                  "«current» or «former»",
		"acme 1 " + key + " Current":                               "«current» or «former»",
		"acme 1 " + key[4:]:                                        "not 32 bytes",
		"acme 1 %%%":                                               "not 32 bytes",
		"acme 1 " + key + "\nacme 2 " + other:                      "no key is its current one",
		"acme 1 " + key + " former":                                "no key is its current one",
		"acme 1 " + key + " current\nacme 1 " + other:              "line 2: tenant \"acme\" has two keys called \"1\"",
		"acme 1 " + key + " current\nacme 2 " + key:                "line 2: tenant \"acme\" has the same key twice",
		"acme 1 index.key\nacme 2 index.key":                       "the same key twice",
		"acme 1 " + key + " current\nacme 2 " + other + " current": "two current keys",
		many:                                   "line 9: tenant \"acme\" has more than 8 keys",
		strings.Repeat("t", 129) + " 1 " + key: "at most 128",
		"acme " + strings.Repeat("i", 65) + " " + key: "an id 64",
	} {
		_, err := parseTenantKeys(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) || strings.Contains(err.Error(), other) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := parseTenantKeys(strings.TrimSuffix(many, fmt.Sprintf("acme %d %s\n", maxKeysOfTenant, lineKey(maxKeysOfTenant))) + "beta 1 " + key); err == nil || !strings.Contains(err.Error(), `"acme": no key`) {
		t.Errorf("as many as may be: %v", err)
	}
}

func FuzzTenantKeys(f *testing.F) {
	f.Add("# ours\nacme 1 " + lineKey(0))
	f.Add("acme 1 " + lineKey(0) + " former\nacme 2 " + lineKey(1) + " current\nacme 3 index.key")
	f.Add("a b c")
	f.Add("a b index.key current current")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := parseTenantKeys(text)
		if err != nil && keys != nil || len(keys) > MaxTenants {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		for tenant, list := range keys {
			if tenant == "" || len(list) == 0 || len(list) > maxKeysOfTenant || list.Current() < 0 {
				t.Errorf("tenant %q: %d keys, current %d", tenant, len(list), list.Current())
			}
			for i, k := range list {
				if k.ID == "" || i != list.Current() && k.Use == CurrentKey || k.Derived && k.Key != (provenance.Key{}) {
					t.Errorf("tenant %q: %+v", tenant, k)
				}
			}
		}
	})
}
