package people

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// A Browser is the client of people who log in with a browser: the authorization code flow with
// PKCE (RFC 7636). What binds a login to its tab is kept by the page alone: the verifier, whose
// challenge the provider has, and the nonce, which the provider signs.
type Browser struct {
	// Redirect is the address to which the provider sends the browser back; empty: no browser may
	// log in.
	Redirect string
	// Secret is the client's; empty for a public client.
	Secret string
	// Scopes are requested in addition to openid.
	Scopes []string
	// Asked is how long ago the provider may have asked for the password at most; zero: it need not
	// say. What drives a person's browser has the provider's cookies, and not the password.
	Asked time.Duration
}

// endpoint returns the provider's addresses, or none if one of them is unsafe. A secret is sent as the
// provider says: the library would try both ways, and send the code twice.
func (b Browser) endpoint(of oauth2.Endpoint, methods []string) oauth2.Endpoint {
	if b.Redirect == "" || CheckPage(of.AuthURL) != nil || CheckIssuer(of.TokenURL) != nil {
		return oauth2.Endpoint{}
	}
	of.AuthStyle = oauth2.AuthStyleInHeader
	if b.Secret == "" || slices.Contains(methods, "client_secret_post") && !slices.Contains(methods, "client_secret_basic") {
		of.AuthStyle = oauth2.AuthStyleInParams
	}
	return of
}

// A Leaving is what a page says before its browser goes to the provider.
type Leaving struct {
	// State comes back beside the code, and only its page compares it. Nonce comes back in the
	// token. Challenge is the SHA-256 of the verifier.
	State, Nonce, Challenge string
}

// A Return is what a page brings from the provider, with what it kept.
type Return struct{ Code, Verifier, Nonce string }

// MaxCodeBytes bounds a code of a provider, which may be a token itself.
const MaxCodeBytes = 4 << 10

// randomText is how many characters 256 bits have.
const randomText = 43

// isRandom reports whether a text has the form of 256 bits that a page drew.
func isRandom(s string) bool {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return len(s) == randomText && !strings.ContainsFunc(s, odd)
}

// wrongForm means that a page did not send what ours sends.
func wrongForm() error {
	return fmt.Errorf("%w: the page sent something that no login begins or ends with", ErrNobody)
}

// Where returns the address at the provider to which a browser goes to log in.
func (p *Provider) Where(ctx context.Context, l Leaving) (string, error) {
	if !isRandom(l.State) || !isRandom(l.Nonce) || !isRandom(l.Challenge) {
		return "", wrongForm()
	}
	client, err := p.client(ctx)
	if err != nil {
		return "", err
	}
	more := []oauth2.AuthCodeOption{
		oidc.Nonce(l.Nonce), oauth2.SetAuthURLParam("code_challenge", l.Challenge), oauth2.SetAuthURLParam("code_challenge_method", "S256"),
	}
	if asked := p.opts.Browser.Asked; asked > 0 {
		more = append(more, oauth2.SetAuthURLParam("max_age", strconv.Itoa(int(asked.Seconds()))))
	}
	return client.AuthCodeURL(l.State, more...), nil
}

// LogIn exchanges a code for an ID token and returns its person. The token itself is dropped.
func (p *Provider) LogIn(ctx context.Context, r Return) (Person, error) {
	if r.Code == "" || len(r.Code) > MaxCodeBytes || !isRandom(r.Verifier) || !isRandom(r.Nonce) {
		return Person{}, wrongForm()
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client, err := p.client(ctx)
	if err != nil {
		return Person{}, err
	}
	got, err := client.Exchange(oidc.ClientContext(ctx, p.web), r.Code, oauth2.VerifierOption(r.Verifier))
	said := (*oauth2.RetrieveError)(nil)
	switch {
	case errors.As(err, &said) && said.ErrorCode == "invalid_grant":
		return Person{}, fmt.Errorf("%w: the provider refuses the code; log in again", ErrNobody)
	case errors.As(err, &said) && said.ErrorCode != "":
		return Person{}, fmt.Errorf("%w: it does not let this client log in with a browser", ErrUnreached)
	case err != nil:
		return Person{}, fmt.Errorf("%w: %s", ErrUnreached, why(err, p.opts.Issuer))
	}
	token, _ := got.Extra("id_token").(string)
	checked, err := p.verify(ctx, token)
	if err != nil {
		return Person{}, err
	}
	if checked.Nonce != r.Nonce {
		return Person{}, fmt.Errorf("%w: it was issued for another page; log in again", ErrNobody)
	}
	who, err := p.person(checked)
	if err != nil || !p.askedLately(checked) {
		return Person{}, cmp.Or(err, fmt.Errorf("%w: the provider does not say that it has just asked for your password; log in there again", ErrNobody))
	}
	return who, nil
}

// askedLately reports whether the provider says that it asked for the password not too long ago. A
// page could leave max_age out, so what counts is the token.
func (p *Provider) askedLately(t *oidc.IDToken) bool {
	if p.opts.Browser.Asked <= 0 {
		return true
	}
	var said struct {
		At *float64 `json:"auth_time"`
	}
	if err := t.Claims(&said); err != nil || said.At == nil {
		return false
	}
	age := p.opts.Now().Sub(time.Unix(int64(*said.At), 0))
	return age >= -Skew && age <= p.opts.Browser.Asked+Skew
}

// client returns the client for logins with a browser.
func (p *Provider) client(ctx context.Context) (oauth2.Config, error) {
	if _, err := p.ready(ctx); err != nil {
		return oauth2.Config{}, err
	}
	p.mu.Lock()
	at := p.browser
	p.mu.Unlock()
	if at.AuthURL == "" {
		return oauth2.Config{}, fmt.Errorf("%w: it names no safe page at which a browser logs in", ErrUnreached)
	}
	b := p.opts.Browser
	return oauth2.Config{
		ClientID: p.opts.ClientID, ClientSecret: b.Secret, Endpoint: at, RedirectURL: b.Redirect, Scopes: append([]string{oidc.ScopeOpenID}, b.Scopes...),
	}, nil
}
