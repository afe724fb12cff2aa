package mcplogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/floodmark/floodmark/internal/outward"
)

// A place is the metadata of a server and its issuer that a login needs. It is fetched once and
// checked, and the login uses this checked copy.
type place struct {
	resource string // the audience of the tokens
	scopes   []string
	meta     *oauthex.AuthServerMeta
}

// discover finds out where to log in: the server names the issuer it trusts, and the issuer names
// its endpoints.
func (s Server) discover(ctx context.Context, c *http.Client) (place, error) {
	challenges, err := s.knock(ctx, c)
	if err != nil {
		return place{}, err
	}
	p := place{resource: s.URL, scopes: asked(challenges)}
	issuer := s.Issuer
	known, err := s.metadata(ctx, c, challenges)
	switch {
	case err != nil:
		return place{}, err
	case known != nil:
		if issuer == "" {
			issuer = known.AuthorizationServers[0]
		} else if !slices.ContainsFunc(known.AuthorizationServers, func(one string) bool { return sameIssuer(one, issuer) }) {
			return place{}, fmt.Errorf("it does not let %s log you in, which oauth.issuer in gateway.yaml names, but %s", shown(issuer), shown(known.AuthorizationServers[0]))
		}
		p.resource = known.Resource
		if len(p.scopes) == 0 {
			p.scopes = scopes(strings.Join(known.ScopesSupported, " "))
		}
	case issuer == "":
		issuer = origin(s.URL) // as in the MCP version of 2025-03-26
	}
	if len(s.Scopes) > 0 {
		p.scopes = s.Scopes
	}
	p.meta, err = s.issuer(ctx, c, issuer)
	return p, err
}

// knock sends the server a request without a token and returns the challenges in its answer.
func (s Server) knock(ctx context.Context, c *http.Client) ([]oauthex.Challenge, error) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floodmark","version":"1"}}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(hello))
	if err != nil {
		return nil, errors.New("its address is none")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := c.Do(req)
	if err != nil {
		return nil, errors.New(unreached(err, s.URL))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		return nil, fmt.Errorf("it asks for no login: it answers %d where one that does answers 401", res.StatusCode)
	}
	challenges, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, errors.New("how it asks for a login cannot be read")
	}
	return challenges, nil
}

// asked returns the scopes that a server's challenge asks for.
func asked(challenges []oauthex.Challenge) []string {
	for _, one := range challenges {
		if one.Scheme == "bearer" && one.Params["scope"] != "" {
			return scopes(one.Params["scope"])
		}
	}
	return nil
}

// metadata returns the server's description of itself, or nil if there is none. It is only accepted
// from the server's own address, because a document from elsewhere could choose the issuer.
func (s Server) metadata(ctx context.Context, c *http.Client, challenges []oauthex.Challenge) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("its address is none")
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	at := func(path string) string { return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String() }
	type try struct{ at, resource string }
	tries := []try{{at(wellKnown + "/" + strings.TrimLeft(u.Path, "/")), s.URL}, {at(wellKnown), origin(s.URL)}}
	for _, one := range challenges {
		there := one.Params["resource_metadata"]
		if there == "" {
			continue
		}
		if !sameOrigin(there, s.URL) {
			return nil, fmt.Errorf("it wants to be described by %s, which is not where it is itself", shown(there))
		}
		tries = slices.Insert(tries, 0, try{there, s.URL}, try{there, origin(s.URL)})
	}
	for _, one := range tries {
		known, err := oauthex.GetProtectedResourceMetadata(ctx, one.at, one.resource, c)
		if err != nil || known == nil {
			continue
		}
		if len(known.AuthorizationServers) == 0 {
			return nil, errors.New("it names no issuer that could log you in")
		}
		return known, nil
	}
	return nil, nil //nolint:nilnil // nil means that there is none
}

// issuer fetches an issuer's endpoints, and checks each of them.
func (s Server) issuer(ctx context.Context, c *http.Client, issuer string) (*oauthex.AuthServerMeta, error) {
	if err := s.mayReach(issuer); err != nil {
		return nil, err
	}
	if u, err := url.Parse(issuer); err != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the issuer it names is no name of one")
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, c)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case err != nil && strings.Contains(err.Error(), outward.ErrNotPublic.Error()): // the SDK keeps no kinds of errors
		return nil, fmt.Errorf("%s, which it names as issuer, is on this machine or in a closed network; if you know it, write oauth: {issuer: …} in gateway.yaml", shown(issuer))
	case err != nil && strings.Contains(err.Error(), "does not match issuer"):
		return nil, fmt.Errorf("%s says that it is another issuer", shown(issuer))
	case err != nil || meta == nil:
		return nil, fmt.Errorf("%s does not say how to log in (no valid authorization server metadata)", shown(issuer))
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return nil, fmt.Errorf("%s does not know PKCE with S256, without which a code may be stolen", shown(issuer))
	}
	for name, address := range map[string]string{
		"authorization": meta.AuthorizationEndpoint, "token": meta.TokenEndpoint, "registration": meta.RegistrationEndpoint, "revocation": meta.RevocationEndpoint,
	} {
		if address == "" && (name == "registration" || name == "revocation" || name == "authorization" && s.Machine) {
			continue
		}
		if err := s.mayReach(address); err != nil {
			return nil, fmt.Errorf("%s: its %s endpoint: %w", shown(issuer), name, err)
		}
	}
	return meta, nil
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// unreached says why a server or issuer was not reached, without the whole address.
func unreached(err error, address string) string {
	host := shown(address)
	switch {
	case errors.Is(err, outward.ErrNotPublic):
		return host + " is on this machine or in a closed network, and you did not name it"
	case outward.Distrust(err) != "":
		return host + ": " + outward.Distrust(err)
	}
	return outward.Unreached(err, strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "http://"))
}
