package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// People says which identity provider's people may connect over the network, and what they may do.
type People struct {
	// Issuer is the provider's address, exactly as its tokens name it.
	Issuer string `yaml:"issuer"`
	// ClientID is the client that people log in to. Audience is the audience of their tokens;
	// empty: ClientID.
	ClientID string `yaml:"clientId"`
	Audience string `yaml:"audience"`
	// Tenant is the tenant of all people. TenantClaim instead names the claim with a person's
	// tenant. Exactly one of the two is required.
	Tenant      *string `yaml:"tenant"`
	TenantClaim string  `yaml:"tenantClaim"`
	// GroupsClaim names the claim with a person's groups; by default groups. NameClaim names the
	// claim with the name that the journal shows; by default sub.
	GroupsClaim string `yaml:"groupsClaim"`
	NameClaim   string `yaml:"nameClaim"`
	// MaxAge is how old a token may be; by default half a day.
	MaxAge Days `yaml:"maxAge"`
	// Authority is a file with the authorities that sign the provider's certificate; empty: those
	// the machine trusts.
	Authority string `yaml:"authority"`
	// Scopes are requested in addition to openid when a person logs in.
	Scopes []string `yaml:"scopes"`
	// Roles are what groups may do.
	Roles Roles `yaml:"roles"`
}

// Roles are the groups that have each role. A person in none of them is not allowed to do anything.
type Roles struct {
	Viewer       []string `yaml:"viewer"`
	Approver     []string `yaml:"approver"`
	PolicyAuthor []string `yaml:"policyAuthor"`
	Admin        []string `yaml:"admin"`
	// Laptop are the groups whose members may join laptops to the fleet, and do nothing else.
	Laptop []string `yaml:"laptop"`
}

const (
	maxScopes     = 32
	maxRoleGroups = 512
)

func (s Service) checkPeople() error {
	p := s.People
	if p == nil {
		return nil
	}
	u, err := url.Parse(p.Issuer)
	groups := slices.Concat(p.Roles.Viewer, p.Roles.Approver, p.Roles.PolicyAuthor, p.Roles.Admin, p.Roles.Laptop)
	switch {
	case len(s.Listen) == 0:
		return errors.New("people: name a network door under listen (there is none)")
	case err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopbackHost(u.Hostname())):
		return fmt.Errorf("people.issuer: %.200q is no https:// address", p.Issuer)
	case p.ClientID == "":
		return errors.New("people.clientId: is missing (the provider gives it to you)")
	case (p.Tenant == nil) == (p.TenantClaim == ""):
		return errors.New("people: write either tenant, if all people are of one, or tenantClaim, the claim that says whose they are")
	case p.Tenant != nil && !s.HasTenant(*p.Tenant):
		return fmt.Errorf("people.tenant: %.100q is not under tenants", *p.Tenant)
	case len(groups) == 0 || len(groups) > maxRoleGroups || slices.Contains(groups, ""):
		return fmt.Errorf("people.roles: name 1 to %d groups, such as viewer: [engineering]", maxRoleGroups)
	case len(p.Scopes) > maxScopes:
		return fmt.Errorf("people.scopes: %d, at most %d", len(p.Scopes), maxScopes)
	}
	return nil
}
