package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The limits of a connection.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 32 << 10
)

// NewServer returns a server for one of our handlers. It serves HTTP/1.1 and HTTP/2, and on a local
// socket also HTTP/2 without TLS, which gRPC needs. The only TCP listener that may be passed to it
// is one of [Listen].
//
// A client has [DefaultMaxBody] to send a request that nothing reads, because that is read after its
// answer. A handler that reads requests sets its own time.
func NewServer(h http.Handler) *http.Server {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: inTime(h), Protocols: p,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
}

func inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A writer without deadlines is a test's.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(DefaultMaxBody))
		next.ServeHTTP(w, r)
	})
}

// ServerTLS returns the configuration of a TCP listener. It allows TLS 1.3 and nothing older. If
// clients is set, a client may send a certificate of one of these authorities; any other
// certificate ends the connection.
func ServerTLS(cert tls.Certificate, clients *x509.CertPool) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"},
	}
	if clients != nil {
		c.ClientCAs, c.ClientAuth = clients, tls.VerifyClientCertIfGiven
	}
	return c
}

// Listen opens a TCP listener. It requires TLS 1.3.
func Listen(ctx context.Context, addr string, c *tls.Config) (net.Listener, error) {
	if c == nil || c.MinVersion < tls.VersionTLS13 || len(c.Certificates) == 0 && c.GetCertificate == nil {
		return nil, fmt.Errorf("listen on %s: TCP needs a certificate and TLS 1.3; without them use the local socket", addr)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, c), nil
}

// People finds callers by tokens of another, trusted issuer.
type People interface {
	// Find returns the caller that a token belongs to. With an error the caller is unknown.
	// [ErrNoToken] means that the token is to blame, not the lookup.
	Find(ctx context.Context, text string) (Identity, error)
}

// Finders find callers by their credentials. Those that are nil find none.
type Finders struct {
	Tokens *Tokens
	// People are found by tokens of another issuer.
	People People
	// Machines are found by tokens of [MachineKind].
	Machines People
}

// Access identifies the caller over TCP: by a token, or else by a verified client certificate. Any
// other caller gets the zero Identity.
func Access(f Finders, o Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := f.identify(r)
		if err != nil {
			who = Identity{Why: who.Why, Unsure: who.Unsure}
		}
		if err != nil && !errors.Is(err, ErrNoToken) {
			o.failed(r.URL.Path, err)
		}
		// Copy the credentials: later handlers change the request's header.
		again := (&http.Request{TLS: r.TLS, Header: http.Header{"Authorization": slices.Clone(r.Header.Values("Authorization"))}}).WithContext(r.Context())
		find := func() (Identity, error) { return f.identify(again) }
		next.ServeHTTP(w, WithStill(r.WithContext(WithIdentity(r.Context(), who)), Still{Find: find}))
	})
}

func (f Finders) identify(r *http.Request) (Identity, error) {
	if r.TLS == nil {
		return Identity{}, errors.New("a call without TLS")
	}
	switch said := r.Header.Values("Authorization"); {
	case len(said) > 1:
		return Identity{}, ErrNoToken
	case len(said) == 1:
		scheme, text, _ := strings.Cut(said[0], " ")
		if !strings.EqualFold(scheme, "bearer") {
			return Identity{}, ErrNoToken
		}
		switch {
		case f.Machines != nil && strings.HasPrefix(text, MachinePrefix):
			return f.Machines.Find(r.Context(), text)
		case f.People != nil && !strings.HasPrefix(text, tokenPrefix):
			return f.People.Find(r.Context(), text)
		}
		return f.Tokens.Find(text)
	case len(r.TLS.VerifiedChains) == 0:
		return Identity{}, ErrNoToken
	}
	name, err := certificateName(r.TLS.PeerCertificates[0])
	if err != nil {
		return Identity{}, err
	}
	return f.Tokens.FindCertificate(name)
}

// certificateName returns the spiffe:// name of a certificate or, if it has none, its common name.
// Two spiffe:// names are an error.
func certificateName(c *x509.Certificate) (string, error) {
	var names []string
	for _, u := range c.URIs {
		if u.Scheme == "spiffe" {
			names = append(names, u.String())
		}
	}
	switch {
	case len(names) > 1:
		return "", errors.New("a client certificate with two spiffe:// names")
	case len(names) == 1:
		return names[0], nil
	case c.Subject.CommonName == "" || strings.HasPrefix(c.Subject.CommonName, "spiffe://"):
		return "", errors.New("a client certificate without a name")
	}
	return c.Subject.CommonName, nil
}
