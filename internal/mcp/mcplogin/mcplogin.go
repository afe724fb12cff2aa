// Package mcplogin logs in at MCP servers that want OAuth: once, through the owner's browser, on
// the owner's command, and after that by renewing the tokens. It keeps tokens in one file that only
// the owner can read, sends each to the one server it was made for, and contacts only the issuer
// that was chosen at the login. A request from a server never begins a login. Its errors never
// contain a token, a code, or a server's text.
package mcplogin

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/outward"
)

// Limits. Tokens of large companies have a few KB; a login page is left open for
// minutes.
const (
	// MaxToken bounds one token, in bytes. MaxAnswer bounds one answer of a server or issuer.
	MaxToken  = 16 << 10
	MaxAnswer = 256 << 10
	// MaxScopes bounds the number of scopes.
	MaxScopes = 64
	// callTime bounds one request to a server or an issuer.
	callTime = 20 * time.Second
	dialTime = 10 * time.Second
	maxHead  = 64 << 10
	// maxShown bounds how many bytes of a host are shown.
	maxShown = 100
	// ahead is how long before its expiry a token is renewed.
	ahead = 30 * time.Second
)

// A Server is the owner's entry for an MCP server.
type Server struct {
	// Name is the owner's name for the server. URL is its address.
	Name, URL string
	// Issuer is the only issuer that may log us in; empty: the issuer that the server names when
	// the owner logs in.
	Issuer string
	// ClientID is our client id at the issuer; empty: we register there.
	ClientID string
	// Secret returns the secret of ClientID; nil: there is none.
	Secret func() (string, error)
	// Scopes replace the scopes that the server asks for.
	Scopes []string
	// Expected is set if the owner's settings say that the server wants a login.
	Expected bool
	// Machine logs in with ClientID and Secret alone, without a person. It needs an Issuer.
	Machine bool
}

// ErrWanted means that the owner has to log in.
var ErrWanted = errors.New("it wants a login")

// wanted returns an ErrWanted that says what the owner can do. Agents read it, too.
func (s Server) wanted(why string) error {
	if s.Machine {
		return fmt.Errorf("%w, and it came to none (%s); the owner looks at oauth of %s in gateway.yaml", ErrWanted, why, s.Name)
	}
	return fmt.Errorf("%w (%s); its owner runs: floodmark mcp login %s", ErrWanted, why, s.Name)
}

// client returns an HTTP client that reaches the owner's server and issuer at any address, and
// other hosts only at public addresses.
func (s Server) client() (*http.Client, error) {
	named := map[string]bool{}
	for _, address := range []string{s.URL, s.Issuer} {
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil {
			return nil, errors.New("an address in gateway.yaml is none")
		}
		named[hostPort(u)] = u.Scheme == "http"
	}
	c := outward.Client(outward.Options{DialTime: dialTime, HeaderBytes: maxHead, HTTP2: true, Named: named})
	c.Timeout = callTime
	c.Transport = &checked{next: c.Transport, s: s}
	return c, nil
}

// checked refuses requests to addresses that mayReach refuses, redirects included, and bounds the
// answers.
type checked struct {
	next http.RoundTripper
	s    Server
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := c.s.mayReach(r.URL.String()); err != nil {
		return nil, err
	}
	res, err := c.next.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, MaxAnswer)
	}
	return res, err
}

// CloseIdleConnections closes unused connections; the client looks for this method here.
func (c *checked) CloseIdleConnections() {
	if next, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// mayReach checks that an address may be used in a login. It must be https, or have the same origin
// as the owner's URL or issuer if that is http.
func (s Server) mayReach(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Opaque != "":
		return errors.New("an address it names is none")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && (sameOrigin(address, s.URL) || s.Issuer != "" && sameOrigin(address, s.Issuer)):
		return nil
	}
	return fmt.Errorf("%s is not https", shown(address))
}

func sameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && u.Scheme == v.Scheme && hostPort(u) == hostPort(v)
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" && u.Scheme == "http" {
		port = "80"
	} else if port == "" {
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// sameIssuer compares two issuers, ignoring a slash at the end.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// shown returns only scheme and host of an address, because the rest may be any text.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an address"
	}
	host := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, u.Host)
	if len(host) > maxShown { // the end of a host name says whose it is
		host = "..." + host[len(host)-maxShown:]
	}
	return u.Scheme + "://" + host
}

// code returns an issuer's error code if it is a standard one, and otherwise a fixed text, because
// other words of a server are not shown.
func code(said string) string {
	known := []string{
		"access_denied", "invalid_client", "invalid_grant", "invalid_request", "invalid_scope", "invalid_target", "login_required", "server_error",
		"temporarily_unavailable", "unauthorized_client", "unsupported_grant_type", "unsupported_response_type", "interaction_required", "consent_required",
		"invalid_redirect_uri", "invalid_client_metadata", "unapproved_software_statement", "invalid_software_statement",
	}
	if slices.Contains(known, said) {
		return said
	}
	return "for no reason that has a name"
}

// scopes splits a list of scopes from a header or an answer. It leaves out invalid ones,
// duplicates, and those beyond MaxScopes.
func scopes(text string) []string {
	fits := regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,256}$`)
	var list []string
	for _, one := range strings.Fields(text) {
		if fits.MatchString(one) && len(list) < MaxScopes && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}
