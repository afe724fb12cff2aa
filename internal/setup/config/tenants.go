package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/journal"
)

// A Tenant is a customer or team whose sessions no other tenant sees.
type Tenant struct {
	// Quota is what it may use of one node. Each limit that is left out has a default.
	Quota Quota `yaml:"quota"`
	// Bundles are its own settings for signed rules, instead of those for all.
	Bundles *Bundles `yaml:"bundles"`
}

// A Quota is what a tenant may use of one node; zero means the default.
type Quota struct {
	Events    int   `yaml:"events"`    // a second
	Bytes     int   `yaml:"bytes"`     // a second
	Sessions  int   `yaml:"sessions"`  // with an event within the last hour
	Questions int   `yaml:"questions"` // that wait for an answer
	InFlight  int64 `yaml:"inFlight"`  // bytes that are read or judged at once
}

func (q Quota) check() error {
	const most = 1 << 40
	for name, n := range map[string]int64{
		"events": int64(q.Events), "bytes": int64(q.Bytes), "sessions": int64(q.Sessions), "questions": int64(q.Questions), "inFlight": q.InFlight,
	} {
		if n < 0 || n > most {
			return fmt.Errorf("quota.%s: %d is no number of things one may have (leave it out for the usual)", name, n)
		}
	}
	return nil
}

// MaxTenants bounds the tenants of one service, because each may use its share of memory.
const MaxTenants = 4096

// HasTenant reports whether a tenant exists. The empty tenant always does: it is the monitor's
// operator.
func (s Service) HasTenant(name string) bool {
	_, ok := s.Tenants[name]
	return ok || name == ""
}

// TenantNames returns the tenants other than the empty one, sorted.
func (s Service) TenantNames() []string { return slices.Sorted(maps.Keys(s.Tenants)) }

func (s Service) checkTenants() error {
	if s.Tokens != "" && !filepath.IsAbs(s.Tokens) {
		return fmt.Errorf("tokens: %q is not a full path", s.Tokens)
	}
	if len(s.Tenants) > MaxTenants {
		return fmt.Errorf("tenants: %d, at most %d", len(s.Tenants), MaxTenants)
	}
	for _, name := range s.TenantNames() {
		if err := CheckTenant(name); err != nil {
			return fmt.Errorf("tenants: %w", err)
		}
		if err := errors.Join(s.Tenants[name].Quota.check(), s.Tenants[name].Bundles.check()); err != nil {
			return fmt.Errorf("tenants.%s.%w", name, err)
		}
	}
	return nil
}

// CheckTenant refuses a name that no tenant can have. Names are shown to people, so invisible
// characters are not allowed: two names could look the same.
func CheckTenant(name string) error {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf) }
	if name == "" || len(name) > journal.MaxTenantBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%.100q is no name of a tenant: it has 1 to %d bytes, and no blanks", name, journal.MaxTenantBytes)
	}
	return nil
}
