package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/journal"
)

// A Tenant is somebody whose sessions nobody else sees.
type Tenant struct{}

// MaxTenants bounds the tenants of one service: each may take its share of memory.
const MaxTenants = 4096

// HasTenant reports whether a tenant is known. The empty one always is: it is
// whoever runs the monitor.
func (s Service) HasTenant(name string) bool {
	_, ok := s.Tenants[name]
	return ok || name == ""
}

// TenantNames are the tenants besides the empty one, in order.
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
	}
	return nil
}

// CheckTenant refuses a name that no tenant can have: it is shown to people, and
// two that look alike would be taken for one.
func CheckTenant(name string) error {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf) }
	if name == "" || len(name) > journal.MaxTenantBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("%.100q is no name of a tenant: it has 1 to %d bytes, and no blanks", name, journal.MaxTenantBytes)
	}
	return nil
}
