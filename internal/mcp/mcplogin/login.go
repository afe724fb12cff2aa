package mcplogin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// A Desk is the interface of a login to the program around it.
type Desk struct {
	// Show tells the owner which issuer logs in and at what address; it must not wait.
	Show func(issuer, address string)
	// Port is the port on this machine that the browser comes back to; zero: any.
	Port int
}

// Login logs in at a server through the owner's browser, and stores the tokens. Only the owner's
// own command may call it.
func (b *Book) Login(ctx context.Context, s Server, d Desk) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()
	p, err := s.discover(ctx, c)
	if err != nil {
		return err
	}
	door, err := openDoor(ctx, d.Port, s.ClientID == "")
	if err != nil {
		return err
	}
	defer door.close()
	l, err := s.register(ctx, c, p, door.address)
	if err != nil {
		return err
	}
	state, verifier := rand.Text(), rand.Text()+rand.Text()
	address, err := authorizeAddress(p, l, door.address, state, verifier)
	if err != nil {
		return err
	}
	door.expect(state) // a browser that is logged in already is back at once
	d.Show(shown(p.meta.Issuer), address)
	back, err := door.wait(ctx)
	if err != nil {
		return err
	}
	if err := back.from(p.meta); err != nil {
		return err
	}
	got, err := exchange(ctx, c, b.now(), l, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.code}, "redirect_uri": {door.address}, "code_verifier": {verifier},
	})
	if err != nil {
		return err
	}
	l.Access, l.Refresh, l.Until, l.Scopes, l.Since = got.access, got.refresh, got.until, p.scopes, b.now()
	if len(got.scopes) > 0 {
		l.Scopes = got.scopes
	}
	return b.change(ctx, func(all map[string]login) { all[s.Name] = l })
}

// register returns a login with our client id: the owner's from the settings, or else a new one
// that it registers with the issuer.
func (s Server) register(ctx context.Context, c *http.Client, p place, back string) (login, error) {
	l := login{
		URL: s.URL, Resource: p.resource, Issuer: p.meta.Issuer, TokenEndpoint: p.meta.TokenEndpoint, RevokeEndpoint: p.meta.RevocationEndpoint,
		ClientID: s.ClientID, Auth: authBasic,
	}
	if slices.Contains(p.meta.TokenEndpointAuthMethodsSupported, "client_secret_post") {
		l.Auth = authPost
	}
	if s.ClientID != "" {
		if s.Secret != nil {
			secret, err := s.Secret()
			if err != nil {
				return login{}, err
			}
			l.Secret = key(secret)
		}
		return l, nil
	}
	if p.meta.RegistrationEndpoint == "" {
		return login{}, fmt.Errorf("%s registers no clients; register floodmark there by hand, with http://127.0.0.1/callback to come back to, and write oauth: {client_id: …} in gateway.yaml", shown(p.meta.Issuer))
	}
	got, err := oauthex.RegisterClient(ctx, p.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{back}, ClientName: "Floodmark", GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: "none", ApplicationType: "native", Scope: strings.Join(p.scopes, " "),
	}, c)
	if err != nil {
		said, why := new(oauthex.ClientRegistrationError), "it cannot be reached, or its answer cannot be read"
		if errors.As(err, &said) {
			why = code(said.ErrorCode)
		}
		return login{}, fmt.Errorf("%s does not register us: %s", shown(p.meta.Issuer), why)
	}
	l.ClientID, l.Secret = got.ClientID, key(got.ClientSecret)
	switch got.TokenEndpointAuthMethod {
	case "client_secret_basic":
		l.Auth = authBasic
	case "client_secret_post":
		l.Auth = authPost
	}
	if !key(l.ClientID).fits() || l.ClientID == "" || !l.Secret.fits() {
		return login{}, fmt.Errorf("%s registers us under a name that is none", shown(p.meta.Issuer))
	}
	return l, nil
}

// authorizeAddress returns the address for the owner's browser.
func authorizeAddress(p place, l login, back, state, verifier string) (string, error) {
	u, err := url.Parse(p.meta.AuthorizationEndpoint)
	if err != nil {
		return "", errors.New("where to log in is no address")
	}
	hash := sha256.Sum256([]byte(verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": l.ClientID, "redirect_uri": back, "state": state, "resource": p.resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(hash[:]), "code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	wanted := slices.Clone(p.scopes)
	const offline = "offline_access" // some issuers give a refresh token only for this scope
	if slices.Contains(p.meta.ScopesSupported, offline) && !slices.Contains(wanted, offline) {
		wanted = append(wanted, offline)
	}
	if len(wanted) > 0 {
		q.Set("scope", strings.Join(wanted, " "))
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}

// Logout deletes the login at a server, and asks the issuer to revoke its tokens. It returns
// whether there was a login, and whether the issuer was told.
func (b *Book) Logout(ctx context.Context, s Server) (was, told bool, err error) {
	f, err := b.read()
	if err != nil {
		return false, false, err
	}
	l, was := f.Logins[s.Name]
	if err := b.change(ctx, func(all map[string]login) { delete(all, s.Name) }); err != nil {
		return was, false, err
	}
	was = was && l.Access != ""
	return was, was && l.holds(s) && b.revoke(ctx, s, l), nil
}

// revoke asks an issuer to revoke its tokens.
func (b *Book) revoke(ctx context.Context, s Server, l login) bool {
	c, err := s.client()
	if err != nil || l.RevokeEndpoint == "" {
		return false
	}
	defer c.CloseIdleConnections()
	told := true
	for kind, token := range map[string]key{"refresh_token": l.Refresh, "access_token": l.Access} {
		if token == "" {
			continue
		}
		form := url.Values{"token": {string(token)}, "token_type_hint": {kind}, "client_id": {l.ClientID}}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.RevokeEndpoint, strings.NewReader(form.Encode()))
		if err != nil {
			return false
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if l.Secret != "" {
			req.SetBasicAuth(url.QueryEscape(l.ClientID), url.QueryEscape(string(l.Secret)))
		}
		res, err := c.Do(req)
		if err != nil {
			return false
		}
		told = told && res.StatusCode == http.StatusOK && res.Body.Close() == nil
	}
	return told
}
