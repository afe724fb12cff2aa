package people

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// LoginPath is the path under which a monitor describes how to log in.
const LoginPath = "/.well-known/floodmark-login"

// A Login describes how people log in to a monitor. It is no secret.
//
// Rules for changing it: fields are only added, and a description without a new field must keep its
// meaning.
type Login struct {
	Issuer   string   `json:"issuer"`
	ClientID string   `json:"clientId"`
	Audience string   `json:"audience,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`

	dial Dial // to the issuer; nil uses the machine's own network
}

// For returns the audience of the tokens: Audience, or ClientID if that is empty.
func (l Login) For() string { return cmp.Or(l.Audience, l.ClientID) }

// Same reports whether two logins request the same tokens. It is false if there is no provider.
func (l Login) Same(other Login) bool {
	return l.Issuer != "" && l.Issuer == other.Issuer && l.ClientID == other.ClientID && l.For() == other.For()
}

// A Pass is a person's tokens after logging in. All of it is secret.
type Pass struct {
	Token   string    `json:"token"`
	Refresh string    `json:"refresh,omitempty"`
	Ends    time.Time `json:"ends"`
}

// maxLogin bounds a monitor's description of its login.
const maxLogin = 64 << 10

// Discover asks a monitor how its people log in.
func Discover(ctx context.Context, web *http.Client, monitor string) (Login, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(monitor, "/")+LoginPath, http.NoBody)
	if err != nil {
		return Login{}, err
	}
	resp, err := web.Do(req)
	if err != nil {
		return Login{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxLogin+1))
	if err != nil {
		return Login{}, err
	}
	var l Login
	if resp.StatusCode != http.StatusOK || len(data) > maxLogin || json.Unmarshal(data, &l) != nil {
		return Login{}, errors.New("it lets no people in: its service.yaml names no identity provider")
	}
	if err := CheckIssuer(l.Issuer); err != nil || l.ClientID == "" {
		return Login{}, errors.New("it names no safe identity provider")
	}
	return l, nil
}

// A Flow is a login that waits for approval in a browser.
type Flow struct {
	// Code is what the person types at Page. Ready is the address of the page with the code filled
	// in, if the provider has one.
	Code, Page, Ready string
	// Ends is when the code expires, in an hour at the latest.
	Ends time.Time

	login  Login
	ctx    func(context.Context) context.Context
	config oauth2.Config
	asked  *oauth2.DeviceAuthResponse
	web    *http.Client
}

// Begin starts a login.
func (l Login) Begin(ctx context.Context, roots *x509.CertPool) (*Flow, error) {
	f, err := l.prepare(ctx, roots)
	if err != nil {
		return nil, err
	}
	if f.asked, err = f.config.DeviceAuth(f.ctx(ctx), l.params()...); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrUnreached, refusal(err, l.Issuer))
	}
	toEnd(f.asked, time.Now())
	f.Code, f.Page, f.Ready, f.Ends = f.asked.UserCode, f.asked.VerificationURI, f.asked.VerificationURIComplete, f.asked.Expiry
	if CheckPage(f.Page) != nil || f.Code == "" || !isName(f.Code) {
		f.Close()
		return nil, fmt.Errorf("%w: it names no safe page to log in at", ErrUnreached)
	}
	if CheckPage(f.Ready) != nil {
		f.Ready = ""
	}
	return f, nil
}

// The lifetime of a code if the provider sends none, the longest lifetime, and the longest interval
// between requests.
const (
	usualCode  = 15 * time.Minute
	longestFor = time.Hour
	seldomest  = time.Minute
)

// toEnd gives a code an expiry. RFC 8628 requires the provider to send one, and not every provider
// does.
func toEnd(asked *oauth2.DeviceAuthResponse, now time.Time) {
	if asked.Expiry.IsZero() {
		asked.Expiry = now.Add(usualCode)
	}
	if most := now.Add(longestFor); asked.Expiry.After(most) {
		asked.Expiry = most
	}
	asked.Interval = min(max(asked.Interval, 0), int64(seldomest/time.Second))
}

// CheckPage refuses a page that is unsafe to open in a browser.
func CheckPage(page string) error {
	base, _, _ := strings.Cut(page, "?")
	if !isName(page) || len(page) > MaxClaimBytes {
		return errors.New("no page")
	}
	return CheckIssuer(base)
}

func (l Login) prepare(ctx context.Context, roots *x509.CertPool) (*Flow, error) {
	f := &Flow{login: l, web: reach(l.Issuer, roots, l.dial)}
	f.ctx = func(ctx context.Context) context.Context { return oidc.ClientContext(ctx, f.web) }
	found, err := oidc.NewProvider(f.ctx(ctx), l.Issuer)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrUnreached, why(err, l.Issuer))
	}
	f.config = oauth2.Config{ClientID: l.ClientID, Endpoint: found.Endpoint(), Scopes: append([]string{oidc.ScopeOpenID}, l.Scopes...)}
	f.config.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a client without a secret can only be named in the parameters
	return f, nil
}

func (l Login) params() []oauth2.AuthCodeOption {
	if l.For() == l.ClientID {
		return nil
	}
	return []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("audience", l.Audience)}
}

// refusal describes a provider's error in our own words, by its code.
func refusal(err error, issuer string) string {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		return why(err, issuer)
	}
	switch said.ErrorCode {
	case "access_denied":
		return "you said no there"
	case "expired_token":
		return "nobody said yes in time"
	case "invalid_grant":
		return "the login is over there"
	}
	return "it does not let this client log in by a device code"
}

// Wait waits until the person has approved or denied. If the provider does not answer, it continues
// with longer intervals until the code expires.
func (f *Flow) Wait(ctx context.Context) (Pass, error) {
	asks := &patient{next: f.web.Transport, issuer: f.login.Issuer}
	web := *f.web
	web.Transport = asks
	t, err := f.config.DeviceAccessToken(oidc.ClientContext(ctx, &web), f.asked, f.login.params()...)
	if ctx.Err() != nil {
		return Pass{}, ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) && asks.silent != "" {
		return Pass{}, fmt.Errorf("the code has ended, and the identity provider did not answer at last: %s", asks.silent)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Pass{}, errors.New("nobody said yes in time")
	}
	if err != nil {
		return Pass{}, errors.New(refusal(err, f.login.Issuer))
	}
	return f.login.pass(t)
}

// Close closes idle connections.
func (f *Flow) Close() { f.web.CloseIdleConnections() }

// Renew gets another token without the person, if the provider allows that.
func (l Login) Renew(ctx context.Context, roots *x509.CertPool, refresh string) (Pass, error) {
	f, err := l.prepare(ctx, roots)
	if err != nil {
		return Pass{}, err
	}
	defer f.Close()
	t, err := f.config.TokenSource(f.ctx(ctx), &oauth2.Token{RefreshToken: refresh}).Token()
	if said := (*oauth2.RetrieveError)(nil); err != nil && (!errors.As(err, &said) || said.ErrorCode == "") {
		return Pass{}, fmt.Errorf("%w: %s", ErrUnreached, why(err, l.Issuer))
	}
	if err != nil {
		return Pass{}, errors.New(refusal(err, l.Issuer))
	}
	return l.pass(t)
}

// End asks the provider to revoke a login's refresh token. It reports whether the provider has done
// so; some providers have no address for that.
func (l Login) End(ctx context.Context, roots *x509.CertPool, refresh string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	web := reach(l.Issuer, roots, l.dial)
	defer web.CloseIdleConnections()
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, web), l.Issuer)
	if err != nil {
		return false, fmt.Errorf("%w: %s", ErrUnreached, why(err, l.Issuer))
	}
	var said struct {
		At string `json:"revocation_endpoint"`
	}
	if found.Claims(&said) != nil || CheckIssuer(said.At) != nil || refresh == "" {
		return false, nil
	}
	form := url.Values{"token": {refresh}, "token_type_hint": {"refresh_token"}, "client_id": {l.ClientID}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, said.At, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := web.Do(req)
	if err != nil {
		return false, fmt.Errorf("%w: %s", ErrUnreached, why(err, l.Issuer))
	}
	return resp.StatusCode == http.StatusOK, resp.Body.Close()
}

// pass picks the token a monitor accepts: the ID token for the client itself, or an access token
// for an audience of its own.
func (l Login) pass(t *oauth2.Token) (Pass, error) {
	p := Pass{Token: t.AccessToken, Refresh: t.RefreshToken}
	if len(l.params()) == 0 {
		p.Token, _ = t.Extra("id_token").(string)
	}
	if p.Token == "" || !compact(p.Token) || len(p.Token) > MaxTokenBytes {
		return Pass{}, errors.New("the identity provider gave no token that a monitor could check")
	}
	p.Ends = ends(p.Token)
	return p, nil
}

// ends returns a token's expiry without verifying the token. The monitor that receives the token
// verifies it.
func ends(token string) time.Time {
	var said struct {
		Exp int64 `json:"exp"`
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil || json.Unmarshal(data, &said) != nil {
		return time.Time{}
	}
	return time.Unix(said.Exp, 0).UTC()
}
