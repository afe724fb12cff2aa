package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A peopleDoor admits the people an identity provider knows. It maps their groups to roles, and
// refuses people of tenants that service.yaml does not name.
type peopleDoor struct {
	provider *people.Provider
	service  config.Service
}

var _ httpapi.People = (*peopleDoor)(nil)

// openPeople makes the peopleDoor if service.yaml names a provider. The provider is first asked when
// a person comes, so machines are admitted even if it does not answer.
func (d *Daemon) openPeople() error {
	if d.opts.Service.People == nil {
		return nil
	}
	o, err := d.peopleOptions()
	if err != nil {
		return err
	}
	provider, err := people.New(o)
	if err != nil {
		return fmt.Errorf("people.issuer: %w", err)
	}
	d.people = &peopleDoor{provider, d.opts.Service}
	d.closers = append(d.closers, func() error { provider.Close(); return nil })
	return nil
}

// peopleOptions returns the provider that service.yaml names.
func (d *Daemon) peopleOptions() (people.Options, error) {
	set := d.opts.Service.People
	o := people.Options{
		Issuer: set.Issuer, ClientID: set.ClientID, Audience: set.Audience, TenantClaim: set.TenantClaim,
		GroupsClaim: set.GroupsClaim, NameClaim: set.NameClaim, MaxAge: time.Duration(set.MaxAge), Now: d.opts.Now,
	}
	if set.Tenant != nil {
		o.Tenant = *set.Tenant
	}
	if set.Authority != "" {
		data, err := os.ReadFile(set.Authority)
		if err != nil {
			return people.Options{}, fmt.Errorf("people.authority: %w", err)
		}
		if o.Roots, err = outward.Pool(data); err != nil {
			return people.Options{}, fmt.Errorf("people.authority: %s: %w", set.Authority, err)
		}
	}
	return o, nil
}

// Find implements [httpapi.People].
func (p *peopleDoor) Find(ctx context.Context, text string) (httpapi.Identity, error) {
	return p.identity(p.provider.Find(ctx, text))
}

// identity returns the caller that a person is here.
func (p *peopleDoor) identity(who people.Person, err error) (httpapi.Identity, error) {
	switch {
	case errors.Is(err, people.ErrNobody):
		return httpapi.Identity{Why: err.Error()}, fmt.Errorf("%w: %w", httpapi.ErrNoToken, err)
	case errors.Is(err, people.ErrUnreached):
		return httpapi.Identity{Why: people.ErrUnreached.Error() + "; try again, or ask the operator of this monitor"}, err
	case err != nil:
		return httpapi.Identity{}, err
	}
	if !p.service.HasTenant(who.Tenant) {
		return httpapi.Identity{Why: "your tenant is not known here"}, fmt.Errorf("%w: tenant %q", httpapi.ErrNoToken, who.Tenant)
	}
	may := roles(p.service.People.Roles, who.Groups)
	if may == 0 {
		return httpapi.Identity{Why: "none of your groups has a role here"}, fmt.Errorf("%w: %s has no role", httpapi.ErrNoToken, who.Name)
	}
	return httpapi.Identity{Tenant: who.Tenant, Name: who.Name, Channel: httpapi.ByProvider, May: may, Groups: who.Groups}, nil
}

// roles returns what groups may do. Every role may view, except that of people who only join their
// laptops. No role may send events, so that an agent cannot use a person's token.
func roles(r config.Roles, groups []string) httpapi.May {
	var may httpapi.May
	for _, one := range []struct {
		of  []string
		may httpapi.May
	}{
		{r.Viewer, httpapi.MayView},
		{r.Approver, httpapi.MayView | httpapi.MayApprove},
		{r.PolicyAuthor, httpapi.MayView | httpapi.MayPolicy},
		{r.Admin, httpapi.MayView | httpapi.MayAdmin},
		{r.Laptop, httpapi.MayEnrol},
	} {
		if slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(one.of, g) }) {
			may |= one.may
		}
	}
	return may & (httpapi.OwnerMay | httpapi.MayEnrol)
}

// serveLogin publishes where to log in, which is no secret.
func (d *Daemon) serveLogin(mux *http.ServeMux) {
	if d.people == nil {
		return
	}
	set := d.opts.Service.People
	login, err := json.Marshal(people.Login{Issuer: set.Issuer, ClientID: set.ClientID, Audience: set.Audience, Scopes: set.Scopes})
	if err != nil {
		return // cannot fail: all fields are texts
	}
	mux.HandleFunc("GET "+people.LoginPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = strings.NewReader(string(login)).WriteTo(w) // the client may be gone
	})
}
