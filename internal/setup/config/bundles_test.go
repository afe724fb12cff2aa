package config

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/bundle/bundletest"
)

// Keys are for all tenants, or for one tenant in place of those.
func TestBundleKeys(t *testing.T) {
	key := bundle.FormatKey(bundletest.Keys()[0])
	other := bundle.FormatKey(append([]byte{1}, bundletest.Keys()[0][1:]...))
	s, err := ParseService("service.yaml", []byte("bundles: {keys: [\""+key+"\"]}\ntenants:\n  acme: {bundles: {keys: [\""+other+"\"], dryRun: true}}\n  beta: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for tenant, want := range map[string]string{"": key, "beta": key, "acme": other} {
		if got := s.BundlesOf(tenant).Believed(); len(got) != 1 || bundle.FormatKey(got[0]) != want || s.BundlesOf(tenant).DryRun != (tenant == "acme") {
			t.Errorf("%q: %v", tenant, got)
		}
	}
	if none := (Service{}).BundlesOf(""); none != nil || none.Believed() != nil {
		t.Error("somebody is believed")
	}
	many := "bundles: {keys: [" + strings.Repeat("\""+key+"\", ", bundle.MaxKeys) + "\"" + key + "\"]}"
	for text, part := range map[string]string{
		"bundles: {}": "bundles.keys: 0 keys", "bundles: {keys: []}": "bundles.keys: 0 keys", many: "17 keys", "bundles: {keys: [x]}": "bundles.keys[0]",
		"tenants: {acme: {bundles: {keys: [x]}}}": "tenants.acme.bundles.keys[0]", "bundles: {key: x}": "there is no key key here",
	} {
		if _, err := ParseService("service.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A bundle's policy must enforce, unless dryRun is set.
func TestBundleRules(t *testing.T) {
	for text, part := range map[string]string{"version: 1\nprofile: dry-run\n": "enforces nothing", "version: 1\nx: 1\n": "policy.yaml:2:1", "version: 2\n": "policy.yaml:1:"} {
		if _, err := BundleRules("policy.yaml", []byte(text), false); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := BundleRules("policy.yaml", []byte("version: 1\nprofile: dry-run\n"), true); err != nil {
		t.Error(err)
	}
	if r, err := NewReader().Strict(); err != nil || r.Policy.Profile() != "strict" || !r.Policy.Settings("").Enforce {
		t.Errorf("%+v, %v", r, err)
	}
}
