package daemon

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// newPeople runs a daemon whose people come from a provider.
func newPeople(t *testing.T, change func(*Options)) (*fleet, *oidctest.Provider) {
	t.Helper()
	idp := oidctest.New()
	t.Cleanup(idp.Close)
	return newFleet(t, func(o *Options) {
		o.Service.People = &config.People{
			Issuer: idp.URL, ClientID: "floodmark", TenantClaim: "org",
			Roles: config.Roles{Viewer: []string{"engineering"}, Approver: []string{"oncall"}, PolicyAuthor: []string{"security"}, Admin: []string{"platform"}},
		}
		change(o)
	}), idp
}

// person returns a token for a person in groups of a tenant.
func person(idp *oidctest.Provider, name, tenant string, groups ...string) string {
	c := idp.Claims("floodmark", now())
	c["sub"], c["org"], c["groups"] = name, tenant, groups
	return idp.Sign(c)
}

// Every role of people with every call of the API, of their own tenant and of
// another: what the role may not is refused, and nothing is told of others.
func TestEveryRoleOfPeople(t *testing.T) {
	f, idp := newPeople(t, func(*Options) {})
	at := f.plant()
	before := f.heads("acme")
	for group, may := range map[string]httpapi.May{
		"engineering": httpapi.MayView, "oncall": httpapi.MayView | httpapi.MayApprove,
		"security": httpapi.MayView | httpapi.MayPolicy, "platform": httpapi.MayView | httpapi.MayAdmin,
	} {
		token := person(idp, "eve", "beta", group)
		for _, m := range methods() {
			for i, body := range append(aimed(t, m, at), []byte("{}")) {
				f.stranger(m, "beta", token, may, body, i)
			}
		}
		if who, err := f.d.people.Find(t.Context(), token); err != nil || who.May != may || who.May.Has(httpapi.MayEvents) || who.Channel != httpapi.ByProvider {
			t.Errorf("%s: %+v, %v", group, who, err)
		}
	}
	for s, link := range f.heads("acme") {
		if before[s] != link {
			t.Errorf("session %s of acme was written to by strangers", s.ID)
		}
	}
}

// A person with a valid token but without a tenant or role here is refused, and told why.
func TestPeopleWhoAreNobodyHere(t *testing.T) {
	f, idp := newPeople(t, func(*Options) {})
	other := oidctest.New()
	defer other.Close()
	old := idp.Claims("floodmark", now().Add(-2*time.Hour))
	for want, token := range map[string]string{
		"your tenant is not known here":       person(idp, "anna", "ghost", "oncall"),
		"none of your groups has a role here": person(idp, "anna", "acme", "sales"),
		"it is not signed by the provider":    person(other, "anna", "acme", "oncall"),
		"it has ended; log in again":          idp.Sign(old),
		"send «Authorization":                 "fm_owner_" + strings.Repeat("0", 64),
	} {
		_, err := f.by(token).Owner().Status(t.Context(), &wire.StatusRequest{})
		if connect.CodeOf(err) != connect.CodeUnauthenticated || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
	// A role in another letter case, or as a part of a group's name, is none.
	if may := roles(f.d.people.service.People.Roles, []string{"Oncall", "oncall ", "on", "platform/oncall"}); may != 0 {
		t.Errorf("%v", may)
	}
	// Tokens of ours count beside people's.
	if s, err := f.by(f.token("acme", "ben", httpapi.MayView)).Owner().Status(t.Context(), &wire.StatusRequest{}); err != nil || s.GetTenant() != "acme" {
		t.Errorf("%v, %v", s, err)
	}
	idp.Down(true)
	if s, err := f.by(f.token("acme", "ben", httpapi.MayView)).Owner().Status(t.Context(), &wire.StatusRequest{}); err != nil || s.GetTenant() != "acme" {
		t.Errorf("while the provider is down: %v, %v", s, err)
	}
	if strings.Contains(f.log.String(), "eyJ") {
		t.Error("a token is in the log")
	}
}

// A monitor says how its people log in, to unauthenticated callers too.
func TestHowPeopleLogIn(t *testing.T) {
	f, idp := newPeople(t, func(o *Options) { o.Service.People.Scopes = []string{"groups"} })
	login, err := people.Discover(t.Context(), f.web, f.base)
	if err != nil || login.Issuer != idp.URL || login.ClientID != "floodmark" || !slices.Equal(login.Scopes, []string{"groups"}) {
		t.Errorf("%+v, %v", login, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.base+people.LoginPath, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, _ := io.ReadAll(resp.Body); resp.StatusCode == http.StatusOK || json.Valid(data) {
		t.Errorf("%d %s", resp.StatusCode, data)
	}
}

// The policy file serves all tenants: a tenant's people cannot have it read again.
func TestATenantDoesNotReloadForAll(t *testing.T) {
	f := newFleet(t, func(*Options) {})
	if err := os.MkdirAll(filepath.Dir(f.paths.Policy), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.paths.Policy, []byte("version: 1\nprofile: strict\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := f.by(f.token("acme", "pat", httpapi.MayView|httpapi.MayPolicy)).Owner().ReloadPolicy(t.Context(), &wire.ReloadPolicyRequest{})
	if err != nil || got.GetLoaded() {
		t.Errorf("%v, %v", got, err)
	}
}
