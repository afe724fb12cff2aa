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

// NewServer returns a server for one of our handlers. It speaks HTTP/1.1 and HTTP/2, on a local
// socket also without TLS, which gRPC needs. The only TCP listener it may get is that of [Listen].
func NewServer(h http.Handler) *http.Server {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, Protocols: p,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
}

// ServerTLS is the configuration of a TCP listener: TLS 1.3 and nothing older. With a pool of
// authorities a client may send a certificate of one of them; any other certificate ends the
// connection.
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

// People finds people by tokens of another, trusted issuer.
type People interface {
	// Find returns whose token this is. With an error it is unknown; one that is [ErrNoToken] is
	// the caller's fault.
	Find(ctx context.Context, text string) (Identity, error)
}

// Finders find callers by their credentials. A nil one finds none.
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
		next.ServeHTTP(w, withStill(r.WithContext(WithIdentity(r.Context(), who)), find))
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

// certificateName is the spiffe:// name of a certificate, or its common name without one. Two
// spiffe:// names are an error.
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
