package people

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/floodmark/floodmark/internal/outward"
)

// Options name the trusted provider.
type Options struct {
	// Issuer is the provider's URL, exactly as its tokens name it.
	Issuer string
	// ClientID is the client that people log in to. Audience is the required audience of tokens; if
	// it is empty, it is ClientID.
	ClientID, Audience string
	// Tenant is the tenant of all people. If TenantClaim is set instead, it names the claim with
	// the tenant.
	Tenant, TenantClaim string
	// GroupsClaim names the claim with a person's groups; empty means "groups". NameClaim names the
	// claim with the person's name for the journal; empty means "sub".
	GroupsClaim, NameClaim string
	// MaxAge bounds how long after its issue a token is accepted, even if the token expires later;
	// zero means [DefaultMaxAge].
	MaxAge time.Duration
	// Roots sign the provider's certificate; nil for those the machine trusts.
	Roots *x509.CertPool
	// Now is the clock.
	Now func() time.Time
	// Dial connects to the provider; nil uses the machine's own network.
	Dial Dial
	// Browser is how people log in with a browser; the zero value lets none of them.
	Browser Browser
}

// Dial connects to an address, as [net.Dialer.DialContext] does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// The limits of accepted tokens.
const (
	// DefaultMaxAge is a working day. A person who is removed at the provider can use an earlier
	// token for at most that long.
	DefaultMaxAge = 12 * time.Hour
	// Skew is how far the provider's clock may be ahead of ours. A token expires exactly at its
	// time by our clock.
	Skew = time.Minute
	// MaxTokenBytes bounds a token. MaxGroups bounds the groups in it. MaxClaimBytes bounds a name,
	// a tenant or a group.
	MaxTokenBytes = 16 << 10
	MaxGroups     = 512
	MaxClaimBytes = 256
)

// algorithms returns the algorithms that a token may be signed with. All use public keys, because
// with a shared secret the verifier could also sign.
func algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}
}

// A Person is the owner of a token.
type Person struct {
	// Tenant is the tenant whose sessions the person may act on. Name is the journal's name for the
	// person.
	Tenant, Name string
	Groups       []string
	// Ends is when the token expires.
	Ends time.Time
}

// ErrNobody means that a token does not identify a person: it is forged, expired, for another
// audience, or lacks a required claim.
var ErrNobody = errors.New("the token proves nobody")

// ErrUnreached means that the provider did not answer, or not with usable metadata or keys.
var ErrUnreached = errors.New("the identity provider does not answer")

// A Provider verifies tokens of one identity provider. It is safe for concurrent use. It contacts
// the identity provider at the first token, not before.
type Provider struct {
	opts Options
	web  *http.Client

	mu       sync.Mutex // guards what is below
	verifier *oidc.IDTokenVerifier
	browser  oauth2.Endpoint // what a login with a browser needs; empty if it is unsafe
	tried    time.Time       // when the provider's metadata were last requested
}

// New returns a verifier of a provider's tokens.
func New(o Options) (*Provider, error) {
	if err := CheckIssuer(o.Issuer); err != nil {
		return nil, err
	}
	if o.ClientID == "" || o.Now == nil || o.Tenant != "" && o.TenantClaim != "" {
		return nil, errors.New("people: a client id and a clock are needed, and the tenant is said once")
	}
	if o.Audience == "" {
		o.Audience = o.ClientID
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.NameClaim == "" {
		o.NameClaim = "sub"
	}
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	return &Provider{opts: o, web: reach(o.Issuer, o.Roots, o.Dial)}, nil
}

// CheckIssuer refuses an address whose answers could be forged.
func CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !here(u)) {
		return fmt.Errorf("%.200q is no https:// address of an identity provider", issuer)
	}
	return nil
}

// here reports whether an address is on this machine.
func here(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// The limits of requests to a provider.
const (
	askTime     = 10 * time.Second
	maxAnswer   = 1 << 20
	maxIdle     = 2
	idleTime    = time.Minute
	headerBytes = 64 << 10
)

// reach returns an HTTP client for a provider. A provider that is reached by http is on this
// machine, and then all addresses that it names must be, too.
func reach(issuer string, roots *x509.CertPool, dial Dial) *http.Client {
	u, err := url.Parse(issuer)
	web := outward.Client(outward.Options{
		Here: err != nil || u.Scheme != "https", Roots: roots, DialTime: askTime, HeaderBytes: headerBytes, Idle: maxIdle, IdleTime: idleTime, HTTP2: true, Dial: dial,
	})
	web.Transport = bounded{web.Transport, u != nil && u.Scheme == "https"}
	return web
}

// Close closes idle connections.
func (p *Provider) Close() { p.web.CloseIdleConnections() }

// Find verifies a token and returns its person.
func (p *Provider) Find(ctx context.Context, token string) (Person, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	checked, err := p.verify(ctx, token)
	if err != nil {
		return Person{}, err
	}
	return p.person(checked)
}

// verify checks the signature of a token, its issuer, audience and end.
func (p *Provider) verify(ctx context.Context, token string) (*oidc.IDToken, error) {
	if len(token) > MaxTokenBytes {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrNobody, MaxTokenBytes)
	}
	if !compact(token) {
		return nil, fmt.Errorf("%w: it has not the form of one", ErrNobody)
	}
	v, err := p.ready(ctx)
	if err != nil {
		return nil, err
	}
	seen := &outcome{}
	checked, err := v.Verify(context.WithValue(ctx, outcomeKey{}, seen), token)
	if err != nil && errors.Is(seen.err, ErrUnreached) {
		return nil, seen.err
	}
	if err != nil {
		// The library's error may quote the token.
		return nil, fmt.Errorf("%w: %s", ErrNobody, reason(err))
	}
	return checked, nil
}

// compact reports whether a text has the form that tokens have in a header: three parts of base64.
// The library also accepts other forms.
func compact(token string) bool {
	odd := func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return strings.Count(token, ".") == 2 && !strings.ContainsFunc(token, odd)
}

func reason(err error) string {
	if over := (*oidc.TokenExpiredError)(nil); errors.As(err, &over) {
		return "it has ended; log in again"
	}
	return "it is not signed by the provider for this service"
}

// between is the pause before the next request to a provider that did not answer.
const between = 2 * time.Second

// ready returns the verifier. It fetches the provider's metadata once. It continues even if its
// caller cancels, because other callers wait for the result.
func (p *Provider) ready(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verifier != nil {
		return p.verifier, nil
	}
	now := p.opts.Now()
	if since := now.Sub(p.tried); since >= 0 && since < between {
		return nil, ErrUnreached
	}
	p.tried = now
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.web), p.opts.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrUnreached, why(err, p.opts.Issuer))
	}
	var said struct {
		Keys    string   `json:"jwks_uri"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&said); err != nil || CheckIssuer(said.Keys) != nil {
		return nil, fmt.Errorf("%w: it names no safe address of its keys", ErrUnreached)
	}
	p.browser = p.opts.Browser.endpoint(found.Endpoint(), said.Methods)
	p.verifier = oidc.NewVerifier(p.opts.Issuer, newKeys(p.web, said.Keys, p.opts.Now), &oidc.Config{
		ClientID: p.opts.Audience, SupportedSigningAlgs: algorithms(), Now: p.opts.Now,
	})
	return p.verifier, nil
}

// why describes, in our own words, an error of a request to a provider.
func why(err error, issuer string) string {
	u, bad := url.Parse(issuer)
	mismatch := (*oidc.IssuerMismatchError)(nil)
	switch {
	case bad != nil:
		return "its address is odd"
	case errors.As(err, &mismatch):
		return "it calls itself something else"
	case outward.Distrust(err) != "":
		return outward.Distrust(err)
	}
	return outward.Unreached(err, u.Host)
}
