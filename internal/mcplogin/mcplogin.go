// Package mcplogin logs in at MCP servers that want OAuth: once, through the owner's browser, on
// the owner's command, and after that by renewing the tokens. It keeps tokens in one file that only
// the owner can read, sends each to the one server it was made for, and contacts only the issuer
// that was chosen at the login. It begins no login because a server asks for one, and no error of
// it holds a token, a code, or a server's text.
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
	// MaxToken bounds one token, MaxAnswer what a server answers, in bytes.
	MaxToken  = 16 << 10
	MaxAnswer = 256 << 10
	// MaxScopes bounds what is asked for.
	MaxScopes = 64
	// callTime bounds one question to a server or an issuer.
	callTime = 20 * time.Second
	dialTime = 10 * time.Second
	maxHead  = 64 << 10
	// maxShown bounds how much of a host is shown.
	maxShown = 100
	// ahead is how long before its end a token is renewed.
	ahead = 30 * time.Second
)

// A Server is the owner's entry for one.
type Server struct {
	// Name is the owner's for it, URL its address.
	Name, URL string
	// Issuer is the only one that may log us in; empty: the one that the server
	// names when the owner logs in.
	Issuer string
	// ClientID is the issuer's id of us; empty: we register.
	ClientID string
	// Secret returns the secret of ClientID; nil: there is none.
	Secret func() (string, error)
	// Scopes replace those that the server asks for.
	Scopes []string
	// Expected says that the owner wrote that the server wants a login.
	Expected bool
	// Machine logs in with ID and secret alone, without a person. It needs an Issuer.
	Machine bool
}

// ErrWanted says that the owner has to log in.
var ErrWanted = errors.New("it wants a login")

// wanted is ErrWanted for a server, with what to do. Agents read it, too.
func (s Server) wanted(why string) error {
	if s.Machine {
		return fmt.Errorf("%w, and it came to none (%s); the owner looks at oauth of %s in gateway.yaml", ErrWanted, why, s.Name)
	}
	return fmt.Errorf("%w (%s); its owner runs: floodmark mcp login %s", ErrWanted, why, s.Name)
}

// client reaches the server and the issuer that the owner named at any address, and other hosts
// only on the public network.
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

// checked lets a request out only to where it may go, whether we or a server made the address.
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

// mayReach checks that an address may be one of a login: https, or http where the owner wrote just
// that for this machine.
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

// sameIssuer compares two names of issuers, without a slash at the end.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// shown returns scheme and host of an address: the rest may be any text.
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
	if len(host) > maxShown { // the end of a name says whose it is
		host = "..." + host[len(host)-maxShown:]
	}
	return u.Scheme + "://" + host
}

// code returns an error's name if the standard has it, or nothing: other words of a server are not
// shown.
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

// scopes reads a list of scopes as it stands in a header or an answer.
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
