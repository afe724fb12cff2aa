package config

import (
	"crypto/ed25519"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// Bundles say whose rules are accepted. If a tenant has keys, signed bundles of rules replace
// policy.yaml for it.
type Bundles struct {
	// Keys are the public keys of authors, as «floodmark fleet bundle key» shows them.
	Keys []string `yaml:"keys"`
	// DryRun accepts bundles that enforce nothing.
	DryRun bool `yaml:"dryRun"`
}

func (b *Bundles) check() error {
	if b == nil {
		return nil
	}
	if len(b.Keys) == 0 || len(b.Keys) > bundle.MaxKeys {
		return fmt.Errorf("bundles.keys: %d keys, want 1 to %d («floodmark fleet bundle key» makes one; leave bundles out to be judged by policy.yaml)", len(b.Keys), bundle.MaxKeys)
	}
	for i, text := range b.Keys {
		if _, err := bundle.ParseKey(text); err != nil {
			return fmt.Errorf("bundles.keys[%d]: %w", i, err)
		}
	}
	return nil
}

// BundlesOf returns the settings for a tenant: its own, or else those for all tenants; nil if
// policy.yaml is used for it.
func (s Service) BundlesOf(tenant string) *Bundles {
	if own := s.Tenants[tenant].Bundles; own != nil {
		return own
	}
	return s.Bundles
}

// Believed returns the public keys of the authors whose bundles are accepted.
func (b *Bundles) Believed() []ed25519.PublicKey {
	if b == nil {
		return nil
	}
	var list []ed25519.PublicKey
	for _, text := range b.Keys {
		if key, err := bundle.ParseKey(text); err == nil { // invalid keys were refused when service.yaml was read
			list = append(list, key)
		}
	}
	return list
}

// BundleRules compiles a bundle's policy for a caller that reads rules once; see [Reader.Bundle].
func BundleRules(name string, text []byte, dryRun bool, more ...*catalog.File) (Rules, error) {
	return NewReader().Bundle(name, text, dryRun, more...)
}

// Bundle compiles a bundle's policy. It returns an error for a policy that cannot be read, and,
// unless dryRun is set, for one that enforces nothing. More adds to the catalog; see
// [Reader.Guarded].
func (r *Reader) Bundle(name string, text []byte, dryRun bool, more ...*catalog.File) (Rules, error) {
	shipped, err := r.Shipped()
	if err != nil {
		return Rules{}, err
	}
	p, problems := policy.Load(policy.Layer{Name: name, Data: text})
	if p == nil {
		return Rules{}, problems
	}
	// An agent's own section is never laxer than the section for all agents.
	if !dryRun && !p.Settings("").Enforce {
		return Rules{}, floodmark.Problems{{
			File: name, Line: 1, Column: 1, Severity: floodmark.Error, Code: "enforces-nothing", Text: "this policy decides and enforces nothing",
			Hint: "choose another profile, or write bundles: {dryRun: true} into service.yaml",
		}}
	}
	return Rules{Rules: kernel.NewRules(p, catalog.New(append(p.Tools(), more...), shipped)), Warnings: problems}, nil
}

// Strict returns the rules of [StrictPolicy], for a tenant without a valid bundle.
func (r *Reader) Strict(more ...*catalog.File) (Rules, error) {
	return r.Bundle("strict", []byte(StrictPolicy), false, more...)
}
